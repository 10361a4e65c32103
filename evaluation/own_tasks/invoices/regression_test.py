from invoices.numbers import next_number


def test_zeros_stay():
    assert next_number("2026-000041") == "2026-000042"

import pytest
from invoices.numbers import next_number


def test_a_number_has_six_digits_behind_the_year():
    assert next_number("2026-001009") == "2026-001010"


def test_a_full_year_is_an_error_and_never_rolls_over():
    with pytest.raises(OverflowError):
        next_number("2026-999999")


def test_numbers_of_the_test_system_are_skipped():
    assert next_number("2026-000899") == "2026-001000"

from invoices.totals import total


def test_a_total():
    assert total([(2, 150), (1, 1)]) == 301

"""The numbers of invoices."""


def next_number(last: str) -> str:
    """Return the number after `last`."""
    return str(int(last) + 1)

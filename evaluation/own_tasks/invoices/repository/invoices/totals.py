"""Totals in cents."""


def total(lines: list[tuple[int, int]]) -> int:
    """Return the sum of quantity times price in cents."""
    return sum(quantity * price for quantity, price in lines)

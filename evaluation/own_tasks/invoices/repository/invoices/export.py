"""Export as CSV."""

from invoices.totals import total


def row(number: str, lines: list[tuple[int, int]]) -> str:
    """Return a line of the file."""
    return f"{number};{total(lines)}"

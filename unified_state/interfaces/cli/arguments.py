"""What several commands take as an argument."""

from __future__ import annotations


def count(text: str) -> int:
    """A number of things: at least one."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


count.__name__ = "number"  # argparse names the function in its message

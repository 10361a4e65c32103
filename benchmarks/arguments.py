"""The arguments of a benchmark's command line: its help is what its module says of itself, laid out as it is there."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter


def described(about: str | None) -> ArgumentParser:
    """A parser with that help."""
    return ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)

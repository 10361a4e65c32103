"""How much of long work is done, for a person at a terminal, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from unified_state.interfaces.cli.terminal import is_person

_MOMENT = 0.5  # seconds


@contextmanager
def progress_bar(title: str, total: int = 0) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the size of each part that is done. Work that takes longer than a moment shows how
    much of its total is done.
    """
    done, shown_at = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, shown_at
        done += count
        if total and time.monotonic() - shown_at > _MOMENT and is_person(sys.stderr):
            shown_at = time.monotonic()
            sys.stderr.write(f"\r{title}: {min(100, done * 100 // total)} % ")
            sys.stderr.flush()

    begun_at = shown_at
    try:
        yield advance
    finally:
        if shown_at > begun_at:
            sys.stderr.write(f"\r{' ' * (len(title) + len(': 100 % '))}\r")

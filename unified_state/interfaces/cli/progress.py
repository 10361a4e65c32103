"""A bar for a person at a terminal, while a command works for longer than a moment.

It is drawn on stderr by a thread that starts late, so that a quick command neither draws it nor loads what draws it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threading import Timer

_MOMENT = 0.5  # seconds


class progress_bar:  # noqa: N801  # used like the functions of contextlib, whose import would cost a millisecond
    """Show a bar: `with progress_bar("archiving", total) as advance: … advance(done)`. Without a total it moves to and
    fro. Nothing may be asked or printed to a terminal meanwhile.
    """

    def __init__(self, title: str, total: int | None = None) -> None:
        self._title, self._total, self._done = title, total, 0
        self._timer: Timer | None = None
        self._bar: Any = None

    def __enter__(self) -> Callable[[int], None]:
        if sys.stderr.isatty() and self._is_wanted():
            from threading import Lock, Timer

            self._lock, self._is_over = Lock(), False
            self._timer = Timer(_MOMENT, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self._advance

    def _is_wanted(self) -> bool:
        from unified_state.interfaces.cli.terminal import shows_codes

        return shows_codes(sys.stderr)

    def _show(self) -> None:
        with self._lock:
            if self._is_over:
                return
            from rich.console import Console
            from rich.progress import Progress

            # stdout may be a pipe that gets the data meanwhile
            bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False)
            bar.start()
            self._task = bar.add_task(self._title, total=self._total, completed=self._done)
            self._bar = bar  # only now, because the other thread advances it

    def _advance(self, count: int) -> None:
        self._done += count
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)

    def __exit__(self, *_error: object) -> None:
        if self._timer is None:
            return
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()

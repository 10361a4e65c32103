"""A progress bar for what takes long: on stderr, drawn with rich, and only where a person looks on."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

_WORTH_A_BAR = 5_000  # of what is quick; less is done before a bar is drawn


class progress_bar:  # noqa: N801  # used like the functions of contextlib, whose import would cost a millisecond
    """`with progress_bar("archiving", total) as advance: … advance(done)`. From `least` on it is worth a bar."""

    def __init__(self, title: str, total: int, least: int = _WORTH_A_BAR) -> None:
        self._title, self._total, self._least = title, total, least
        self._bar: Any = None

    def __enter__(self) -> Callable[[int], None]:
        if self._total < self._least or not sys.stderr.isatty():
            return lambda _count: None
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._bar.start()
        task = self._bar.add_task(self._title, total=self._total)
        return lambda count: self._bar.advance(task, count)

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

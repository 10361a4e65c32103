"""The status line: one line for people that says how full the context is and how the memory is doing.

What does not fit into the terminal is left out from the end, so the parts stand in the order of what matters.
"""

from __future__ import annotations

from unified_state.context.window.rules.context_phase import short_number
from unified_state.lib.record import Record
from unified_state.model.context_usage import OK, OPTIMISE, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CELLS = 12
_FULL, _EMPTY, _MARK = "█", "░", "│"
_COLOURS = {OK: "\x1b[32m", WARNING: "\x1b[33m", OPTIMISE: "\x1b[31m"}
_DIM, _RED, _RESET = "\x1b[2m", "\x1b[31m", "\x1b[0m"
_BETWEEN = " · "


class Glance(Record):
    """What the status line tells, as far as it is known. `problem` is what went wrong in a hook, in a few words."""

    tokens: int | None = None
    window: int | None = None
    percent: float | None = None  # of the window
    compacts_at: int | None = None
    phase: str = OK
    turns_left: int | None = None
    minutes_left: int | None = None
    items: int | None = None
    blocking: int = 0
    stale: int = 0
    saved: str | None = None
    problem: str | None = None


def status_line(glance: Glance, columns: int, *, colour: bool) -> str:
    """The line, no longer than the terminal is wide."""
    shown: list[tuple[str, str]] = []
    for part in _parts(glance):
        if shown and len(_BETWEEN.join(text for _, text in [*shown, part])) > columns:
            break
        shown.append(part)
    return _BETWEEN.join(f"{start}{text}{_RESET}" if colour and start else text for start, text in shown)


def _parts(glance: Glance) -> Iterator[tuple[str, str]]:
    """The parts, each with its colour."""
    yield _COLOURS.get(glance.phase, ""), _fill(glance)
    if glance.problem:
        yield _RED, f"! {glance.problem}"
    left = _left(glance)
    if left:
        yield _COLOURS.get(glance.phase, ""), left
    if glance.items is not None:
        blocking = f", {glance.blocking} blocking" if glance.blocking else ""
        yield "", f"{glance.items} item{'' if glance.items == 1 else 's'}{blocking}"
    if glance.stale:
        yield _COLOURS[WARNING], f"{glance.stale} stale"
    yield _DIM, f"saved {glance.saved}" if glance.saved else "nothing saved yet"
    if not glance.problem:
        yield _DIM, "hooks ok"


def _fill(glance: Glance) -> str:
    if glance.tokens is None or not glance.window:
        return f"{_EMPTY * _CELLS} no answer yet"
    percent = glance.tokens * 100 / glance.window if glance.percent is None else glance.percent
    cells = [_FULL if index < round(percent * _CELLS / 100) else _EMPTY for index in range(_CELLS)]
    if glance.compacts_at is not None:
        cells[min(_CELLS - 1, glance.compacts_at * _CELLS // glance.window)] = _MARK
    return f"{''.join(cells)} {percent:.0f}% {short_number(glance.tokens)}/{short_number(glance.window)}"


def _left(glance: Glance) -> str:
    """How long until the client compacts."""
    if glance.tokens is not None and glance.compacts_at is not None and glance.tokens >= glance.compacts_at:
        return "compacts any moment"
    if glance.turns_left is not None:
        return f"compacts in ~{glance.turns_left} turn{'' if glance.turns_left == 1 else 's'}"
    if glance.minutes_left is not None:
        return f"compacts in ~{glance.minutes_left} min"
    return "" if glance.compacts_at is None else f"compacts at {short_number(glance.compacts_at)}"

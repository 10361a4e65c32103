"""Parse the client's status-line JSON, and draw the status line and the picture of a context.

The structure of the JSON is never trusted. Its figures are null before the first answer and zero directly after a
compaction. Neither is a measurement.
"""

from __future__ import annotations

from unified_state.context.window.rules.context_phase import short_number
from unified_state.lib.record import Record
from unified_state.lib.stdlib import parse_json
from unified_state.model.context_usage import OK, OPTIMISE, WARNING, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from unified_state.model.context_usage import Point


MOST_BYTES = 1 << 16  # the client writes about 2 KB
_PARTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MOST_TOKENS = 100_000_000


class StatusInput(Record):
    """The session of a status line, its folder and its reading; a missing field is empty."""

    session_id: str = ""
    cwd: str = ""
    transcript_path: str = ""
    reading: Reading | None = None


def parse_status(raw: bytes, now: int) -> StatusInput:
    """Return the usable fields of the client's JSON."""
    try:
        fields = parse_json(raw.decode("utf-8", "replace")) if len(raw) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return StatusInput()
    return StatusInput(
        _text(fields.get("session_id")),
        _text(fields.get("cwd")),
        _text(fields.get("transcript_path")),
        _reading(fields.get("context_window"), now),
    )


def _reading(window: Any, now: int) -> Reading | None:
    size = _count(window.get("context_window_size")) if isinstance(window, dict) else None
    if not size:
        return None
    usage, percent = window.get("current_usage"), _number(window.get("used_percentage"))
    parts = [_count(usage.get(name)) for name in _PARTS] if isinstance(usage, dict) else []
    known = [part for part in parts if part is not None]
    if known:
        return Reading(sum(known), size, now, percent)
    return None if percent is None else Reading(round(size * percent / 100), size, now, percent)


def _count(value: Any) -> int | None:
    """Return a number of tokens as an integer, or None."""
    number = _number(value)
    return None if number is None else int(number)


def _number(value: Any) -> float | None:
    """Return a number that can be a count or a percentage, or None. NaN and infinities were parsed as null."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _MOST_TOKENS else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""


_CELLS = 12
_FULL, _EMPTY, _MARK = "█", "░", "│"
_COLOURS = {OK: "\x1b[32m", WARNING: "\x1b[33m", OPTIMISE: "\x1b[31m"}
_DIM, _RED, _RESET = "\x1b[2m", "\x1b[31m", "\x1b[0m"
_BETWEEN = " · "
MOST_TURNS, _MOST_MINUTES = 50, 600  # what is further away than that cannot be told from a few turns


class Glance(Record):
    """The known figures of a status line. `problem` is the last failure of a hook, in a few words."""

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
    waiting: int = 0
    saved: str | None = None
    problem: str | None = None


def status_line(glance: Glance, columns: int, *, colour: bool) -> str:
    """Return the status line, cut to the terminal's width."""
    shown: list[tuple[str, str]] = []
    for part in _parts(glance):
        if shown and len(_BETWEEN.join(text for _, text in [*shown, part])) > columns:
            break
        shown.append(part)
    return _BETWEEN.join(f"{start}{text}{_RESET}" if colour and start else text for start, text in shown)


def _parts(glance: Glance) -> Iterator[tuple[str, str]]:
    """Yield the parts, each with its colour."""
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
    if glance.waiting:
        yield _COLOURS[WARNING], f"{glance.waiting} wait{'s' if glance.waiting == 1 else ''}"
    if glance.saved or not glance.items:  # what is recorded is durable, also before the first save
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
    """Return the time until the client compacts, in words."""
    if glance.tokens is not None and glance.compacts_at is not None and glance.tokens >= glance.compacts_at:
        return "compacts any moment"
    if (glance.turns_left or 0) > MOST_TURNS or (
        glance.turns_left is None and (glance.minutes_left or 0) > _MOST_MINUTES
    ):
        return ""
    if glance.turns_left is not None:
        return f"compacts in ~{glance.turns_left} turn{'' if glance.turns_left == 1 else 's'}"
    if glance.minutes_left is not None:
        return f"compacts in ~{glance.minutes_left} min"
    return "" if glance.compacts_at is None else f"compacts at {short_number(glance.compacts_at)}"


_ROWS, _EIGHTHS = 8, " ▁▂▃▄▅▆▇█"
_LIMIT, _CUT = "┄", "▼"
_LABEL = 6  # characters before the axis


def draw_context(points: Sequence[Point], cuts: Sequence[int], limit: int) -> list[str]:
    """Return the lines of the picture. `cuts` are the times of the compactions, the oldest first."""
    if not points:
        return []
    top = max(limit, *(point.tokens for point in points))
    marked = _marked(points, cuts)
    limit_row = min(_ROWS - 1, limit * _ROWS // top)
    lines = [" " * _LABEL + "  " + "".join(_CUT if index in marked else " " for index in range(len(points))).rstrip()]
    for row in reversed(range(_ROWS)):
        cells = "".join(_cell(point.tokens * _ROWS * 8 // top - row * 8) for point in points)
        if row == limit_row:
            cells = cells.replace(" ", _LIMIT) + _LIMIT * 2
        label = short_number(limit) if row == limit_row else ""
        lines.append(f"{label:>{_LABEL}} │{cells}".rstrip())
    turns = f"{points[0].turn}", f"{points[-1].turn}"
    gap = max(1, len(points) - len(turns[0]) - len(turns[1]))
    axis = turns[0] + " " * gap + turns[1] if points[0].turn != points[-1].turn else turns[1]
    lines += [f"{'0':>{_LABEL}} └" + "─" * len(points), f"{'turn':>{_LABEL}}  {axis}"]
    return lines if marked else lines[1:]


def _marked(points: Sequence[Point], cuts: Sequence[int]) -> set[int]:
    """Return the points directly after a compaction."""
    after = (next((index for index, point in enumerate(points) if point.at >= cut), None) for cut in cuts)
    return {index for index in after if index is not None and points[0].at < points[index].at}


def _cell(eighths: int) -> str:
    return _EIGHTHS[max(0, min(8, eighths))]

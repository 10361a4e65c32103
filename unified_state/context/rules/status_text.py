"""The client's input for a status line, and the text of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_state.lib.json_text import parse_object
from unified_state.lib.record import Record
from unified_state.lib.text import counted
from unified_state.model.context_usage import Reading

_MOST_BYTES = 1 << 16  # of the client's JSON; it writes about 2 KB
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
    fields = parse_object(raw) if len(raw) <= _MOST_BYTES else None
    if fields is None:
        return StatusInput()
    session_id, cwd, path = (_text(fields.get(name)) for name in ("session_id", "cwd", "transcript_path"))
    reading, model = _reading(fields.get("context_window"), now), fields.get("model")
    name = _text(model.get("id")) if isinstance(model, dict) else ""
    return StatusInput(session_id, cwd, path, reading and reading.replace(model=name))


def _text(value: Any) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""


def _reading(window: Any, now: int) -> Reading | None:
    """Return the reading of the client's `context_window`, or None if it has no measurement.

    Its structure is not trusted. Its figures are null before the first answer and zero directly after a compaction.
    Neither is a measurement.
    """
    size = _count(window.get("context_window_size")) if isinstance(window, dict) else None
    if not size:
        return None
    usage, percent = window.get("current_usage"), _number(window.get("used_percentage"))
    parts = [_count(usage.get(name)) for name in _PARTS] if isinstance(usage, dict) else []
    known = [part for part in parts if part is not None]
    if not known and percent is None:
        return None
    return Reading(sum(known) if known else round(size * (percent or 0) / 100), size, now)


def _count(value: Any) -> int | None:
    """Return a number of tokens as an integer, or None."""
    number = _number(value)
    return None if number is None else int(number)


def _number(value: Any) -> float | None:
    """Return a number that can be a count or a percentage, or None. NaN and infinities were parsed as null."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _MOST_TOKENS else None


_CELLS = 12
_FULL, _EMPTY, _MARK = "█", "░", "│"
_COLOURS = {"ok": "\x1b[32m", "warning": "\x1b[33m", "optimise": "\x1b[31m"}  # by the phase
_DIM, _RED, _RESET = "\x1b[2m", "\x1b[31m", "\x1b[0m"
_BETWEEN = " · "


class StatusFigures(Record):
    """The known figures of a status line. `problem` is the last failure of a hook, in a few words."""

    tokens: int | None = None
    window: int | None = None
    compacts_at: int | None = None
    phase: str = "ok"
    items: int | None = None
    blocking: int = 0
    waiting: int = 0
    saved: str | None = None
    problem: str | None = None


def status_line(glance: StatusFigures, columns: int, *, colour: bool) -> str:
    """Return the status line, cut to the terminal's width."""
    shown: list[tuple[str, str]] = []
    for part in _parts(glance):
        if shown and len(_BETWEEN.join(text for _, text in [*shown, part])) > columns:
            break
        shown.append(part)
    return _BETWEEN.join(f"{start}{text}{_RESET}" if colour and start else text for start, text in shown)


def _parts(glance: StatusFigures) -> Iterator[tuple[str, str]]:
    """Yield the parts, each with its colour."""
    yield _COLOURS.get(glance.phase, ""), _fill(glance)
    if glance.problem:
        yield _RED, f"! {glance.problem}"
    left = _left(glance)
    if left:
        yield _COLOURS.get(glance.phase, ""), left
    if glance.items is not None:
        blocking = f", {glance.blocking} blocking" if glance.blocking else ""
        yield "", f"{counted(glance.items, 'item')}{blocking}"
    if glance.waiting:
        yield _COLOURS["warning"], f"{glance.waiting} wait{'s' if glance.waiting == 1 else ''}"
    if glance.saved or not glance.items:  # what is recorded is durable, also before the first save
        yield _DIM, f"saved {glance.saved}" if glance.saved else "nothing saved yet"
    if not glance.problem:
        yield _DIM, "hooks ok"


def _fill(glance: StatusFigures) -> str:
    if glance.tokens is None or not glance.window:
        return f"{_EMPTY * _CELLS} no answer yet"
    percent = glance.tokens * 100 / glance.window
    cells = [_FULL if index < round(percent * _CELLS / 100) else _EMPTY for index in range(_CELLS)]
    if glance.compacts_at is not None:
        cells[min(_CELLS - 1, glance.compacts_at * _CELLS // glance.window)] = _MARK
    return f"{''.join(cells)} {percent:.0f}% {short_number(glance.tokens)}/{short_number(glance.window)}"


def _left(glance: StatusFigures) -> str:
    """Return when the client compacts, in words."""
    if glance.tokens is not None and glance.compacts_at is not None and glance.tokens >= glance.compacts_at:
        return "compacts any moment"
    return "" if glance.compacts_at is None else f"compacts at {short_number(glance.compacts_at)}"


_THOUSAND = 1_000


def short_number(tokens: int) -> str:
    """Return a number of tokens in short form: `950`, `86.7k`, `142k`, `1M`."""
    if tokens < _THOUSAND:
        return str(tokens)
    for unit, size in (("k", _THOUSAND), ("M", _THOUSAND**2)):
        value = tokens / size
        if value < _THOUSAND - 0.5 or unit == "M":
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"  # noqa: PLR2004
    return str(tokens)

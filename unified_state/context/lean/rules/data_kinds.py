"""JSON, logs, reports of subagents, and output of no known kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from unified_state.context.lean.rules.output_view import View
from unified_state.context.lean.rules.short_form import Kind, Ranking, ends_first, newest_first
from unified_state.context.lean.rules.tool_call import Call
from unified_state.lib.json_text import parse_json

_LONGEST_SHAPE, _SHAPES_SHARE = 500, 0.1  # in characters, and as a part of the output
_LOOKED_AT_JSON, _BEGINNING_PIECES = 40, 5
_LEAST_JSON = 0.6
_NOISE = ('url"', "_url", "node_id", "avatar", "gravatar", '_links"', '"href"', '"sha"', "reactions")


def _is_json(_call: Call, view: View) -> bool:
    """Return whether an output begins as JSON and continues as JSON."""
    start = "".join(view.pieces[:_BEGINNING_PIECES]).lstrip()[:2]
    if not start.startswith(("{", "[")) or start[1:2] not in {'"', "{", "[", "\n", "\r", " ", "\u007d", "]"}:
        return False
    lines = view.pieces[:_LOOKED_AT_JSON]
    return sum(
        '"' in line or line.strip() in {"{", "}", "[", "]", "},", "],", "[]"} for line in lines
    ) >= _LEAST_JSON * len(lines)


def _rank_json(view: View) -> Ranking:
    """Rank the beginning first, then units with new names. Addresses and similar values are last."""
    pieces = view.pieces
    order = newest_first(pieces, range(len(pieces)))
    order.sort(key=lambda number: any(word in pieces[number] for word in _NOISE))
    shape = shape_of(view.text, min(_LONGEST_SHAPE, int(_SHAPES_SHARE * len(view.text))))
    return Ranking({0}, order, about=f"JSON: {shape}" if shape else "")


_READ_WHOLE, _BEGINNING_READ = 300_000, 100_000  # in characters; parsing takes 10 ms a megabyte
_ELEMENTS, _VALUES = 50, 200  # most elements read of each list, and most values compared at each place
_DEPTHS = (6, 4, 3, 2, 1)  # depths of the described structure, the deepest that fits
_NAMES, _LONGEST_NAME = 25, 40
_IN_NAMES = frozenset("_-.$/@#")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_OPEN = "\u2026open"  # last element of a truncated list
_CLOSING = {"[": f',"{_OPEN}"]', "{": "}"}


def shape_of(text: str, most: int) -> str:
    """Return the names and types of a text that begins as JSON, such as `400 x {id: number, labels: 0-3 x text, note?:
    null}`.

    The result has at most `most` characters, or is "" if that is impossible. Of a text that is too long or truncated,
    the beginning is described.
    """
    for json in _readings(text):
        try:
            value = parse_json(json)
        except (ValueError, RecursionError):
            continue  # not JSON, read this way
        return next((shape for depth in _DEPTHS if len(shape := _shape([value], depth)) <= most), "")
    return ""


def _readings(text: str) -> Iterator[str]:
    """Yield the text as JSON, then its beginning. Consecutive objects become a list."""
    is_whole = len(text) <= _READ_WHOLE
    text = (text.strip() if is_whole else text[:_BEGINNING_READ].lstrip()).replace("\r\n", "\n")
    if text.startswith("{") and "}\n{" in text:
        text = "[" + text.replace("}\n{", "},{") + "]" * is_whole
    if is_whole:
        yield text
    yield _closed(text[:_BEGINNING_READ])


def _closed(text: str) -> str:
    """Return a truncated text up to its last comma, with all open brackets closed."""
    pieces = text.replace("\\\\", "  ").replace('\\"', "  ").split('"')
    pieces[1::2] = [" " * len(piece) for piece in pieces[1::2]]  # blank out quoted text
    bare = '"'.join(pieces)
    end = max(0, bare.rfind(","))
    opened: list[str] = []
    for sign in bare[:end].encode("ascii", "replace").translate(None, _NO_BRACKETS).decode():
        if sign in _CLOSING:
            opened.append(_CLOSING[sign])
        elif opened:
            opened.pop()
    return text[:end] + "".join(reversed(opened))


def _shape(values: list[Any], depth: int) -> str:
    """Return a description of the common structure of the values at one place."""
    by_type: dict[str, list[Any]] = {}
    for value in values[:_VALUES]:
        by_type.setdefault(_TYPES.get(type(value), "number"), []).append(value)
    return " or ".join(_COMPOUND[name](some, depth) if name in _COMPOUND else name for name, some in by_type.items())


def _object_shape(objects: list[dict[str, Any]], depth: int) -> str:
    if not depth:
        return "{\u2026}"
    fields: dict[str, list[Any]] = {}
    for one in objects:
        for name, value in one.items():
            fields.setdefault(name, []).append(value)
    shapes = [
        f"{_readable(name)}{'?' if len(values) < len(objects) else ''}: {_shape(values, depth - 1)}"
        for name, values in list(fields.items())[:_NAMES]
    ]
    return f"{{{', '.join(shapes)}{f', {len(fields) - _NAMES:,} more' if len(fields) > _NAMES else ''}}}"


def _list_shape(lists: list[list[Any]], depth: int) -> str:
    lengths = [len(one) - (one[-1:] == [_OPEN]) for one in lists]
    least, most, is_open = min(lengths), max(lengths), any(one[-1:] == [_OPEN] for one in lists)
    elements = [value for one, length in zip(lists, lengths, strict=True) for value in one[: min(length, _ELEMENTS)]]
    count = (f"{least:,}" if least == most else f"{least:,}-{most:,}") + "+" * is_open
    return f"{count} x {_shape(elements, max(0, depth - 1)) or 'nothing'}"


_COMPOUND: dict[str, Callable[[list[Any], int], str]] = {"object": _object_shape, "list": _list_shape}
_TYPES = {dict: "object", list: "list", str: "text", bool: "boolean", type(None): "null"}


def _readable(name: str) -> str:
    """Return a name without characters that look like our marks."""
    plain = "".join(sign if sign.isalnum() or sign in _IN_NAMES else "?" for sign in name[:_LONGEST_NAME])
    return plain + ("\u2026" if len(name) > _LONGEST_NAME else "")


_DIGITS = str.maketrans("", "", "0123456789")
_LEVELS = ("INFO", "DEBUG", "WARN", "ERROR", "TRACE", "info", "debug", "warn", "error", '"level"', '"time"', '"ts"')
_HEAD = 60  # characters that may contain time and level
_LOOKED_AT = 60
_LEAST_SHARE = 0.6
_TIME_DIGITS = 5
_LONGEST_LIKENESS = 160
_FIRST, _LAST = 2, 5


def _is_log(_call: Call, view: View) -> bool:
    """Return whether most lines of an output begin with a time or a level."""
    lines = [piece for piece in view.pieces[:_LOOKED_AT] if piece.strip()]
    return len(lines) > _FIRST and sum(map(_is_logged, lines)) >= _LEAST_SHARE * len(lines)


def _rank_log(view: View) -> Ranking:
    """Rank both ends first, then lines unlike earlier ones. Repeated lines are labelled."""
    pieces = view.pieces
    count = len(pieces)
    known: set[str] = set()
    repeats: dict[int, str] = {}
    for number, piece in enumerate(pieces):
        likeness = _likeness(piece)
        if likeness in known:
            repeats[number] = "like others"
        known.add(likeness)
    ends = {*range(min(_FIRST, count)), *range(max(0, count - _LAST), count)}
    distinct = [number for number in ends_first(count) if number not in repeats]
    return Ranking(ends, distinct, repeats)


def _likeness(piece: str) -> str:
    """Return a line without its numbers, in which repetitions of an event differ."""
    return piece.translate(_DIGITS)[:_LONGEST_LIKENESS]


def _is_logged(line: str) -> bool:
    head = line.lstrip()[:_HEAD]
    start = head[: _HEAD // 2]
    has_time = sum(map(str.isdigit, start)) >= _TIME_DIGITS and ":" in start and start[:1] in "0123456789[({JFMASOND"
    return (has_time and (start.count(":") > 1 or "-" in start)) or head.startswith(_LEVELS) or '"level"' in line[:300]


_TOOLS = frozenset(("Task", "Agent"))
_AGENTS_OUTPUT = "<task_type>local_agent</task_type>"  # marks a subagent in the answer of TaskOutput
_BEGINNING = 500
_TOOL_CALL = "[Tool: "


def _is_report(call: Call, view: View) -> bool:
    """Return whether the output is a subagent's report, complete or so far."""
    return call.tool in _TOOLS or (call.tool == "TaskOutput" and _AGENTS_OUTPUT in view.text[:_BEGINNING])


def _rank_report(view: View) -> Ranking:
    """Rank the lines of the report from both ends. Its tool calls are labelled."""
    pieces = view.pieces
    calls = {number: "of tool calls" for number, piece in enumerate(pieces) if piece.startswith(_TOOL_CALL)}
    return Ranking(set(), [number for number in ends_first(len(pieces)) if number not in calls], calls)


def _rank_other(view: View) -> Ranking:
    """Rank both ends inwards, the head first: lists such as `git log` or a search begin with the newest or the best."""
    return Ranking(set(), ends_first(len(view.pieces), head=3))


def _is_anything(_call: Call, _view: View) -> bool:
    return True


JSON = Kind("JSON", (80, 40, 40), _is_json, _rank_json)
LOG = Kind("log", (50, 20, 9), _is_log, _rank_log)
REPORT = Kind("report", (10_000, 90, 38), _is_report, _rank_report)
OTHER = Kind("output", (70, 35, 10), _is_anything, _rank_other)

"""JSON, logs, reports of subagents, and output of no known kind."""

from __future__ import annotations

from unified_state.context.lean.rules.short_form import Kind, Ranking, ends_first, newest_first
from unified_state.lib.stdlib import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call


_LONGEST_SHAPE, _SHAPES_SHARE = 500, 0.1  # characters; and of the output
_LOOKED_AT_JSON, _BEGINNING_PIECES = 40, 5
_LEAST_JSON = 0.6
_NOISE = ('url"', "_url", "node_id", "avatar", "gravatar", '_links"', '"href"', '"sha"', "reactions")


def _is_json(_call: Call, view: View) -> bool:
    """Whether an output begins as JSON does, and goes on so."""
    start = "".join(view.pieces[:_BEGINNING_PIECES]).lstrip()[:2]
    if not start.startswith(("{", "[")) or start[1:2] not in {'"', "{", "[", "\n", "\r", " ", "\u007d", "]"}:
        return False
    lines = view.pieces[:_LOOKED_AT_JSON]
    return sum(
        '"' in line or line.strip() in {"{", "}", "[", "]", "},", "],", "[]"} for line in lines
    ) >= _LEAST_JSON * len(lines)


def _rank_json(view: View) -> Ranking:
    """The beginning, then what brings names that are new; addresses and the like last."""
    pieces = view.pieces
    order = newest_first(pieces, range(len(pieces)))
    order.sort(key=lambda number: any(word in pieces[number] for word in _NOISE))
    shape = shape_of(view.text, min(_LONGEST_SHAPE, int(_SHAPES_SHARE * len(view.text))))
    return Ranking({0}, order, about=f"JSON: {shape}" if shape else "")


_READ_WHOLE, _BEGINNING_READ = 300_000, 100_000  # characters; 10 ms a megabyte
_ELEMENTS, _VALUES = 50, 2_000  # that are looked at: of each list, and of all
_DEPTHS = (6, 4, 3, 2, 1)  # how deep the shape is told, as far as there is room
_NAMES, _LONGEST_NAME = 25, 40
_IN_NAMES = frozenset("_-.$/@#")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_CLOSING = {"[": "]", "{": "}"}


def shape_of(text: str, most: int) -> str:
    """What a text that begins as JSON looks like, in at most so many characters; empty where that cannot be told."""
    for json, is_whole in _readings(text):
        try:
            value = parse_json(json)
        except (ValueError, RecursionError):
            continue
        shape = _Shape()
        shape.add(value, [_VALUES], _DEPTHS[0], is_open=not is_whole)
        told = (shape.told(depth) for depth in _DEPTHS)
        return next((words for words in told if len(words) <= most), "")
    return ""


def _readings(text: str) -> Iterator[tuple[str, bool]]:
    """The text as JSON, and whether that is all of it. Objects one behind the other are those of a list."""
    is_whole = len(text) <= _READ_WHOLE
    text = (text.strip() if is_whole else text[:_BEGINNING_READ].lstrip()).replace("\r\n", "\n")
    if text.startswith("{") and "}\n{" in text:
        text = "[" + text.replace("}\n{", "},{") + "]" * is_whole
    if is_whole:
        yield text, True
    yield _closed(text[:_BEGINNING_READ]), False


def _closed(text: str) -> str:
    """A text that was broken off, up to its last comma, with all that is open there closed."""
    pieces = text.replace("\\\\", "  ").replace('\\"', "  ").split('"')
    pieces[1::2] = [" " * len(piece) for piece in pieces[1::2]]  # what stands in quotes
    bare = '"'.join(pieces)
    end = max(0, bare.rfind(","))
    opened: list[str] = []
    for sign in bare[:end].encode("ascii", "replace").translate(None, _NO_BRACKETS).decode():
        if sign in _CLOSING:
            opened.append(_CLOSING[sign])
        elif opened:
            opened.pop()
    return text[:end] + "".join(reversed(opened))


class _Shape:
    """What the values at one place have in common."""

    def __init__(self) -> None:
        self._types: dict[str, None] = {}
        self._fields: dict[str, _Shape] = {}
        self.seen = self._objects = 0
        self._elements: _Shape | None = None
        self._lengths: list[int] = []
        self._is_open = False

    def add(self, value: Any, left: list[int], depth: int, *, is_open: bool) -> None:
        """Take a value in. `left` holds how many more are looked at; one that `is_open` was broken off."""
        left[0] -= 1
        self.seen += 1
        if isinstance(value, dict):
            self._types["object"] = None
            last = len(value) - 1
            for number, (name, field) in enumerate(value.items()):
                if left[0] <= 0 or not depth:
                    break
                self._fields.setdefault(name, _Shape()).add(field, left, depth - 1, is_open=is_open and number == last)
            else:
                self._objects += 1
        elif isinstance(value, list):
            self._types["list"] = None
            self._lengths.append(len(value))
            self._is_open = self._is_open or is_open
            self._elements = self._elements or _Shape()
            for number, element in enumerate(value[:_ELEMENTS]):
                if left[0] > 0 and depth:
                    self._elements.add(element, left, depth - 1, is_open=is_open and number == len(value) - 1)
        else:
            self._types[_type_of(value)] = None

    def told(self, depth: int) -> str:
        """The shape in words: `400 x {id: number, labels: 0-3 x text, note?: text or null}`."""
        ways = {"object": self._told_object, "list": self._told_list}
        return " or ".join(ways[name](depth) if name in ways else name for name in self._types)

    def _told_object(self, depth: int) -> str:
        if not depth:
            return "{…}"
        told = [
            f"{_readable(name)}{'?' if field.seen < self._objects else ''}: {field.told(depth - 1)}"
            for name, field in list(self._fields.items())[:_NAMES]
        ]
        if len(self._fields) > _NAMES:
            told.append(f"{len(self._fields) - _NAMES:,} more")
        return f"{{{', '.join(told)}}}"

    def _told_list(self, depth: int) -> str:
        least, most = min(self._lengths), max(self._lengths)
        lengths = (f"{least:,}" if least == most else f"{least:,}-{most:,}") + ("+" if self._is_open else "")
        elements = self._elements.told(max(0, depth - 1)) if self._elements else ""
        return f"{lengths} x {elements or 'nothing'}"


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def _readable(name: str) -> str:
    """A name without what could be taken for something else in a line of ours."""
    plain = "".join(sign if sign.isalnum() or sign in _IN_NAMES else "?" for sign in name[:_LONGEST_NAME])
    return plain + ("…" if len(name) > _LONGEST_NAME else "")


_DIGITS = str.maketrans("", "", "0123456789")
_LEVELS = ("INFO", "DEBUG", "WARN", "ERROR", "TRACE", "info", "debug", "warn", "error", '"level"', '"time"', '"ts"')
_HEAD = 60  # characters in which time and level stand
_LOOKED_AT = 60
_LEAST_SHARE = 0.6
_TIME_DIGITS = 5
_LONGEST_LIKENESS = 160
_FIRST, _LAST = 2, 5


def _is_log(_call: Call, view: View) -> bool:
    """Whether most lines of an output begin with a time or a level."""
    lines = [piece for piece in view.pieces[:_LOOKED_AT] if piece.strip()]
    return len(lines) > _FIRST and sum(map(_is_logged, lines)) >= _LEAST_SHARE * len(lines)


def _rank_log(view: View) -> Ranking:
    """The ends, then what is like no line before it; no repeats."""
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
    """A line without its numbers: in that two repeats of an event differ."""
    return piece.translate(_DIGITS)[:_LONGEST_LIKENESS]


def _is_logged(line: str) -> bool:
    head = line.lstrip()[:_HEAD]
    start = head[: _HEAD // 2]
    has_time = sum(map(str.isdigit, start)) >= _TIME_DIGITS and ":" in start and start[:1] in "0123456789[({JFMASOND"
    return (has_time and (start.count(":") > 1 or "-" in start)) or head.startswith(_LEVELS) or '"level"' in line[:300]


_TOOLS = frozenset(("Task", "Agent"))
_AGENTS_OUTPUT = "<task_type>local_agent</task_type>"  # in what TaskOutput gives
_BEGINNING = 500
_TOOL_CALL = "[Tool: "


def _is_report(call: Call, view: View) -> bool:
    """Whether it is what a subagent reports, or did so far."""
    return call.tool in _TOOLS or (call.tool == "TaskOutput" and _AGENTS_OUTPUT in view.text[:_BEGINNING])


def _rank_report(view: View) -> Ranking:
    """What it says, from both ends; none of its calls."""
    pieces = view.pieces
    calls = {number: "of tool calls" for number, piece in enumerate(pieces) if piece.startswith(_TOOL_CALL)}
    return Ranking(set(), [number for number in ends_first(len(pieces)) if number not in calls], calls)


def _rank_other(view: View) -> Ranking:
    """Both ends inwards, the head before the tail: lists begin with the newest or the best, `git log` as a search."""
    return Ranking(set(), ends_first(len(view.pieces), head=3))


def _is_anything(_call: Call, _view: View) -> bool:
    return True


JSON = Kind("JSON", (80, 40, 40), _is_json, _rank_json)
LOG = Kind("log", (50, 20, 9), _is_log, _rank_log)
REPORT = Kind("report", (10_000, 90, 38), _is_report, _rank_report)
OTHER = Kind("output", (70, 35, 10), _is_anything, _rank_other)

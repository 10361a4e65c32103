"""The shape of JSON: the names of its fields, the types of their values, how long its lists are. Of what is too long,
or broken off, that of its beginning.

Invariant: the time does not grow with how much JSON there is.
"""

from __future__ import annotations

from unified_state.lib.stdlib import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_READ_WHOLE, _BEGINNING = 300_000, 100_000  # characters; 10 ms a megabyte
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
    text = (text.strip() if is_whole else text[:_BEGINNING].lstrip()).replace("\r\n", "\n")
    if text.startswith("{") and "}\n{" in text:
        text = "[" + text.replace("}\n{", "},{") + "]" * is_whole
    if is_whole:
        yield text, True
    yield _closed(text[:_BEGINNING]), False


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

"""Each value in the JSON of a seed's lines, replaced by values that broke a promise before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

VALUES: tuple[Any, ...] = (
    "@TOKEN@", "password=@TOKEN@", "a\n@TOKEN@", [["@TOKEN@"]], {"@TOKEN@": "@TOKEN@"}, None, True, -1, 2**64, "",
    "\ud800\0", {}, [], "../../x", "9999-99-99",
)  # fmt: skip


def changed_everywhere(data: bytes) -> Iterator[bytes]:
    """The input with one value replaced, for each place and each value."""
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        begin = min((place for place in (line.find(b"{"), line.find(b"[")) if place >= 0), default=-1)
        try:
            whole = json.loads(line[begin:]) if begin >= 0 else None
        except ValueError:
            continue
        for path in _places(whole) if whole else ():
            for value in VALUES:
                text = json.dumps(_replaced(whole, path, value))
                yield b"\n".join([*lines[:at], line[:begin] + text.encode(), *lines[at + 1 :]])


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from _places(value[key], (*path, key))


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copy

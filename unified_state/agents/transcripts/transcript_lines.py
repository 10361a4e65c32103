"""Transcript files: whole lines from a byte offset on, and the entries in them.

A transcript is only ever appended to, by a client that may be killed at any moment: the last line may be half a line,
and when the client comes back it goes on right behind it. Reading never fails for what stands in a line.
"""

from __future__ import annotations

from unified_state.lib.stdlib import parse_json
from unified_state.lib.text.timestamps import to_milliseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from unified_state.model.step import Found

    Entry = dict[str, Any]
    Read = Callable[[Entry], Iterator[Found]]

_ENTRY_STARTS = ('{"parentUuid":', '{"type":')  # the second one also stands inside of entries that begin as the first


def read_lines(path: str, offset: int, *, to_end: bool = False) -> Iterator[tuple[int, bytes]]:
    """The lines from a byte offset on, each with the offset behind it.

    A last line without its newline is still being written and is left for the next time; with `to_end`, for files that
    nobody writes to any more, it counts if it is whole.
    """
    with open(path, "rb", buffering=1 << 18) as file:  # pathlib costs the hooks 5 ms
        file.seek(offset)
        for line in file:
            whole = line.endswith(b"\n")
            if not whole and not (to_end and parse_entries(line)):
                return
            offset += len(line)
            yield offset, line


def parse_entries(line: bytes) -> list[Entry]:
    """The entries of a line: one as a rule, none if it is damaged; the second half where half an entry was left before
    it.
    """
    text = line.decode("utf-8", "replace")
    entry = _parsed(text)
    if entry is None:
        seconds = (_parsed(text[at:]) for start in _ENTRY_STARTS if (at := text.rfind(start, 1)) > 0)
        entry = next(filter(None, seconds), None)
    return [] if entry is None else [entry]


def text_in(holder: Entry, name: str) -> str:
    """A field as text; empty if it is missing or not text."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def objects_in(values: Any) -> list[Entry]:
    """The objects of a list; none of what is no list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def time_of(entry: Entry) -> int:
    """When an entry was written, in milliseconds; 0 where it does not tell."""
    return to_milliseconds(entry.get("timestamp")) or 0


def _parsed(text: str) -> Entry | None:
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

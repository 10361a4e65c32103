"""A tolerant reader of state files, which any program may have written. It preserves fields of newer versions.

No function here raises, whatever the file holds.
"""

from __future__ import annotations

from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import cut
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.constraint import INFERRED, MODES, ORIGINS
from unified_state.model.item import (
    CONSTRAINT,
    EVIDENCE_TYPES,
    MAIN_FIELDS,
    OTHER_FIELDS,
    PRIORITIES,
    QUESTION,
    STATE_SECTIONS,
)
from unified_state.model.scope import read_scope
from unified_state.model.session_state import TRIGGERS, GitState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    Section = TypeVar("Section", bound=Record)

_INFINITY = float("inf")
SETTLED = ("superseded", "resolved")  # harmless in a file by others: such an item has no effect any more
_IN_FORCE, _PROPOSED, _RESOLVED = "active", "proposed", "resolved"
_CHOICES = {"priority": PRIORITIES, "type": EVIDENCE_TYPES}
LONGEST = 20_000  # characters of one adopted text
_HIGHEST_NUMBER = 1_000_000  # larger numbers do not come from our counter


def read_section(kind: type[Section], value: object) -> Section:
    """Return a section of the file, with the defaults for missing fields and for values of another type."""
    given = value if isinstance(value, dict) else {}
    types = kind.__annotations__  # strings, since the record modules postpone evaluation
    fields = {name: given.get(disk) for name, disk in kind.disk_names.items() if _fits(types[name], given.get(disk))}
    return kind(**{name: tuple(field) if isinstance(field, list) else field for name, field in fields.items()})


def last_save(present: dict[str, Any], now: int) -> tuple[str, Any, GitState]:
    """Return time, trigger and git state of the last save that a file records; the current time if it has none."""
    timestamp, trigger = present.get("timestamp"), present.get("trigger")
    return (
        timestamp if isinstance(timestamp, str) and timestamp else to_text(now),
        trigger if trigger in TRIGGERS else "checkpoint",
        read_section(GitState, present.get("git")),
    )


def keep_unknown(record: Section, present: object) -> Section:
    """Return the record with the unknown fields of its present version on disk, in nested records too."""
    if not isinstance(present, dict):
        return record
    kept: dict[str, Any] = {}
    for name, disk in record.disk_names.items():
        value = getattr(record, name)
        inside = _keep_inside(value, present.get(disk))
        if inside is not value:
            kept[name] = inside
    unknown = present.keys() - record.disk_names.values()
    if unknown or getattr(record, "unknown", None):
        kept["unknown"] = {disk: field for disk, field in present.items() if disk in unknown}
    return record.replace(**kept) if kept else record


def drop_texts(state: dict[str, Any], leaves: Callable[[str], bool]) -> None:
    """Remove every text for which `leaves` is true from a file's JSON, and every field with such a name."""
    waiting: list[Any] = [state]  # no recursion: JSON may be nested deeper than Python's recursion limit
    while waiting:
        container = waiting.pop()
        if isinstance(container, dict):
            for name in [name for name, field in container.items() if leaves(name) or _is_text(field, leaves)]:
                del container[name]
            waiting += container.values()
        elif isinstance(container, list):
            container[:] = [entry for entry in container if not _is_text(entry, leaves)]
            waiting += container


def _is_text(value: object, leaves: Callable[[str], bool]) -> bool:
    return isinstance(value, str) and leaves(value)


def _keep_inside(value: Any, present: Any) -> Any:
    if isinstance(value, Record):
        return keep_unknown(value, present)
    if isinstance(value, dict) and isinstance(present, dict):
        return {key: _keep_inside(entry, present.get(key)) for key, entry in value.items()}
    if isinstance(value, tuple) and isinstance(present, list) and any(isinstance(entry, Record) for entry in value):
        entries = {str(entry.get("id")): entry for entry in present if isinstance(entry, dict)}
        inside = tuple(_keep_inside(entry, entries.get(getattr(entry, "id", ""))) for entry in value)
        return value if all(one is other for one, other in zip(inside, value, strict=True)) else inside
    return value


def _fits(annotation: str, value: object) -> bool:
    match annotation:
        case "str" | "str | None":
            return isinstance(value, str)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float | None":
            return isinstance(value, (int, float)) and not isinstance(value, bool) and -_INFINITY < value < _INFINITY
        case "tuple[str, ...]":
            return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    return False


class StateEntry(Record):
    """An entry of a state file, which another program may have written.

    `said` has the valid fields of its body. `timestamp` is the entry's own time, or None.
    """

    kind: str
    alias: str
    said: dict[str, Any]
    status: str
    origin: str
    created_at: str
    timestamp: int | None


def raw_entries(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects in the sections of a file, each with its kind."""
    for section, kind in STATE_SECTIONS.items():
        entries = state.get(section)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict):
                yield kind, entry


def read_entries(state: dict[str, Any], now: int) -> Iterator[StateEntry]:
    """Yield the entries with a main text. An entry without a time gets the current one, and no time is in the
    future.
    """
    for kind, raw in raw_entries(state):
        main = raw.get(MAIN_FIELDS[kind])
        if isinstance(main, str) and main.strip():
            yield _read_entry(kind, raw, main, now)


def alias_number(alias: object) -> int:
    """Return the number of an alias such as D7; 0 for anything else."""
    digits = alias[1:] if isinstance(alias, str) else ""
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0  # noqa: PLR2004
    return number if number <= _HIGHEST_NUMBER else 0


def _read_entry(kind: str, raw: dict[str, Any], main: str, now: int) -> StateEntry:
    said: dict[str, Any] = {MAIN_FIELDS[kind]: cut(main, LONGEST)}
    for name, default in OTHER_FIELDS[kind].items():
        value = raw.get(name)
        if isinstance(value, type(default)) and value in _CHOICES.get(name, (value,)):
            said[name] = cut(value, LONGEST) if isinstance(value, str) else value
    if kind == CONSTRAINT and raw.get("mode") in MODES and (scope := read_scope(raw.get("scope"))) is not None:
        said |= {"scope": disk_value(scope), "mode": raw["mode"]}
    status = raw.get("status", _IN_FORCE)
    if kind == QUESTION:
        status = _RESOLVED if raw.get("resolved") is True else status
        if isinstance(raw.get("resolution"), str):
            said["resolution"] = cut(raw["resolution"], LONGEST)
        if to_milliseconds(raw.get("resolvedAt")) is not None:
            said["resolvedAt"] = raw["resolvedAt"]
    timestamp = to_milliseconds(raw.get("timestamp"))
    return StateEntry(
        kind=kind,
        alias=str(raw.get("id") or ""),
        said=said,
        status=status if status in (_IN_FORCE, _PROPOSED, *SETTLED) else _PROPOSED,
        origin=raw["origin"] if raw.get("origin") in ORIGINS else INFERRED,
        created_at=to_text(now if timestamp is None else min(timestamp, now)),
        timestamp=timestamp,
    )

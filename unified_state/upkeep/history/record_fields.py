"""The table of the fields of history's records: the fields that each tier stores in a column, and their form in a file.

A field without a column is stored as JSON, so a new field needs a column only where a tier queries it. In a history
file a record is a JSON object. A field has its name on disk, and is omitted if it has its default value. `record` names
the kind. Every object that is read is checked, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unified_state.lib.foreign_values import is_too_deep
from unified_state.lib.record import Record
from unified_state.lib.text import well_formed
from unified_state.model.constraint import MODES, ORIGINS
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, MAIN_FIELDS, OTHER_FIELDS, LedgerItem
from unified_state.model.scope import read_scope
from unified_state.model.step import KINDS, Step

# By the tables of the archive; all other fields are in `carried`.
ARCHIVE_COLUMNS: dict[type[Record], tuple[str, ...]] = {
    StoredSession: (
        "session_id", "started_at", "seen_at", "ended_at", "end_reason", "worktree", "branch", "predecessor",
    ),
    StoredStep: ("session_id", *Step.names),
    StoredItem: ("aliases", *LedgerItem.names),
    StoredCompaction: ("session_id", "boundary_uuid", "at", "trigger", "pre_tokens", "summary", "summary_from"),
}  # fmt: skip

UNKNOWN, RECORD = "unknown", "record"
_KINDS: dict[object, type[HistoryRecord]] = {
    SESSION: StoredSession,
    STEP: StoredStep,
    ITEM: StoredItem,
    "link": StoredLink,
    COMPACTION: StoredCompaction,
    "tombstone": Tombstone,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_NEVER_EMPTY = frozenset({"session_id", "uuid", "boundary_uuid", "key", "from_uuid", "to_uuid"})  # where required
_LONGEST_BLOCK = 9  # digits
_MOST = 1 << 63
_STATUSES = ("active", "proposed", "superseded", "resolved", "dismissed")
_CHOICES: dict[object, dict[str, tuple[str, ...]]] = {
    STEP: {"kind": KINDS},
    ITEM: {"kind": tuple(ALIAS_LETTERS), "status": _STATUSES, "origin": ORIGINS},
    "tombstone": {"what": (STEP, ITEM, COMPACTION, SESSION)},
}


def telling_fields(record: Record) -> dict[str, Any]:
    """Return the required fields of a record and those that differ from their defaults, by their Python names."""
    kind = type(record)
    return {
        name: value for name, value in record.as_dict().items() if name in kind.required or value != getattr(kind, name)
    }


def fields_beside(record: Record, columns: dict[type[Record], tuple[str, ...]]) -> dict[str, Any]:
    """Return the telling fields of a record that a tier has no column for."""
    return {name: value for name, value in telling_fields(record).items() if name not in columns[type(record)]}


def to_object(record: HistoryRecord) -> dict[str, Any]:
    """Return the JSON object of a record."""
    kind = type(record)
    return {RECORD: _NAMES[kind], **{kind.disk_names[name]: value for name, value in telling_fields(record).items()}}


def to_record(told: Mapping[str, Any]) -> HistoryRecord:
    """Return the record of a JSON object. Raises ValueError with the reason if the object is invalid."""
    name = told.get(RECORD)
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        message = f"there is no record {str(name)[:40]!r}"
        raise ValueError(message)
    fields = {own: _checked(kind, own, told[disk]) for own, disk in kind.disk_names.items() if disk in told}
    newer = {disk: value for disk, value in told.items() if disk not in kind.disk_names.values() and disk != RECORD}
    if newer and UNKNOWN not in kind.disk_names:
        message = f"a {name} has no field {min(newer)!r}"
        raise ValueError(message)
    if missing := kind.required - fields.keys():
        message = f"the field {kind.disk_names[min(missing)]!r} is missing"
        raise ValueError(message)
    record = kind(**fields | ({UNKNOWN: {**newer, **fields.get(UNKNOWN, {})}} if newer else {}))
    for own in sorted(_NEVER_EMPTY & kind.required):
        value = getattr(record, own)
        if not value or (isinstance(record, (StoredItem, StoredLink)) and value != well_formed(value)):
            raise _refused(kind.disk_names[own], value)
    for field, choices in _CHOICES.get(name, {}).items():
        if (value := getattr(record, field)) not in choices:
            message = f"there is no {name} of the {field} {value[:40]!r}"
            raise ValueError(message)
    if isinstance(record, Tombstone) and record.what == STEP and not _names_step(record.key):
        message = f"{record.key[:40]!r} names no step"
        raise ValueError(message)
    return _checked_body(record) if isinstance(record, StoredItem) else record


def _checked(kind: type[Record], name: str, value: Any) -> Any:
    """Return the value of a field. Raises ValueError for one of another type."""
    annotations = (base.__dict__.get("__annotations__", {}) for base in kind.__mro__)  # noqa: RUF063  # of each alone
    of_value, _, rest = next(own[name] for own in annotations if name in own).partition(" | ")
    known = tuple(value) if of_value.startswith("tuple") and isinstance(value, list) else value
    if not (rest == "None" if value is None else _CHECKS.get(of_value, _is_object)(known)):
        raise _refused(kind.disk_names[name], value)
    return known


def _refused(name: str, value: object) -> ValueError:
    return ValueError(f"{name!r} cannot be {str(value)[:40]!r}")


def _names_step(key: str) -> bool:
    uuid, _, block = key.rpartition("/")
    return bool(uuid) and block.isdecimal() and len(block) <= _LONGEST_BLOCK


def _checked_body(item: StoredItem) -> StoredItem:
    """Return the item with all fields that its kind has."""
    body = {**OTHER_FIELDS[item.kind], **item.body}
    for field, usual in {MAIN_FIELDS[item.kind]: "", **OTHER_FIELDS[item.kind]}.items():
        if not isinstance(body.get(field), type(usual)):
            message = f"the {field} of a {item.kind} cannot be {str(body.get(field))[:40]!r}"
            raise ValueError(message)  # noqa: TRY004  # callers catch one kind of error
    has_scope = item.kind == CONSTRAINT and (body.get("mode") or body.get("scope"))
    if has_scope and (body.get("mode") not in MODES or read_scope(body.get("scope")) is None):
        message = "the scope of a constraint cannot be read"
        raise ValueError(message)
    return item if body == item.body else item.replace(body=body)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not is_too_deep(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value < _MOST,
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(map(_is_text, value)),
    "dict[str, str]": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}

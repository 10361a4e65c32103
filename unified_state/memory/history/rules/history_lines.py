"""Records of history as the JSON objects of a history file: what is read is what was written, unknown fields too.

A field has its name on disk, one with its usual value is left out; `record` tells what it is. Whoever wrote an object,
it is checked: what comes out has the types and the choices that the rest of the program relies on.
"""

from __future__ import annotations

from unified_state.memory.history.rules.record_fields import UNKNOWN, checked_record, telling_fields
from unified_state.memory.state_file.rules.state_entries import OTHER_FIELDS
from unified_state.model.enforced_constraint import MODES
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    SESSION,
    STEP,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, MAIN_FIELDS
from unified_state.model.origin import ORIGINS
from unified_state.model.scope import read_scope
from unified_state.model.step import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from unified_state.lib.record import Record
    from unified_state.model.history_records import HistoryRecord

RECORD = "record"
LINK, TOMBSTONE = "link", "tombstone"
_CLASSES: dict[str, type[HistoryRecord]] = {
    SESSION: StoredSession,
    STEP: StoredStep,
    ITEM: StoredItem,
    LINK: StoredLink,
    COMPACTION: StoredCompaction,
    TOMBSTONE: Tombstone,
}
_NAMES = {cls: name for name, cls in _CLASSES.items()}
_NAMED = frozenset({"session_id", "uuid", "boundary_uuid", "key", "from_uuid", "to_uuid"})  # not empty where required
_LONGEST_BLOCK = 9  # digits
_STATUSES = ("active", "proposed", "superseded", "resolved", "dismissed")
_CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    STEP: {"kind": KINDS},
    ITEM: {"kind": tuple(ALIAS_LETTERS), "status": _STATUSES, "origin": ORIGINS},
    TOMBSTONE: {"what": (STEP, ITEM, COMPACTION, SESSION)},
}


def to_object(record: HistoryRecord) -> dict[str, Any]:
    """The object of a record."""
    cls: type[Record] = type(record)
    told = {cls.disk_names[name]: value for name, value in telling_fields(record).items()}
    return {RECORD: _NAMES[type(record)], **told}


def to_record(told: Mapping[str, Any]) -> HistoryRecord:
    """The record of an object. Raises ValueError, which says what is wrong with it."""
    name = told.get(RECORD)
    cls = _CLASSES.get(name) if isinstance(name, str) else None
    if cls is None:
        message = f"there is no record {str(name)[:40]!r}"
        raise ValueError(message)
    fields = {own: told[disk] for own, disk in cls.disk_names.items() if disk in told}
    newer = {disk: value for disk, value in told.items() if disk not in cls.disk_names.values() and disk != RECORD}
    if newer and UNKNOWN not in cls.disk_names:
        message = f"a {name} has no field {min(newer)!r}"
        raise ValueError(message)
    record = checked_record(cls, fields, newer)
    _check_names(record)
    _check_choices(str(name), record)
    return _checked_body(record) if isinstance(record, StoredItem) else record


def _check_names(record: Record) -> None:
    for own in sorted(_NAMED & record.required):
        if not (value := getattr(record, own)):
            message = f"{record.disk_names[own]!r} cannot be {str(value)[:40]!r}"
            raise ValueError(message)


def _check_choices(name: str, record: HistoryRecord) -> None:
    for field, choices in _CHOICES.get(name, {}).items():
        value = getattr(record, field)
        if value not in choices:
            message = f"there is no {name} of the {field} {value[:40]!r}"
            raise ValueError(message)
    if isinstance(record, Tombstone) and record.what == STEP and not _names_step(record.key):
        message = f"{record.key[:40]!r} names no step"
        raise ValueError(message)


def _names_step(key: str) -> bool:
    uuid, _, block = key.rpartition("/")
    return bool(uuid) and block.isdecimal() and len(block) <= _LONGEST_BLOCK


def _checked_body(item: StoredItem) -> StoredItem:
    """The item with all fields that its kind has."""
    body = {**OTHER_FIELDS[item.kind], **item.body}
    for field, usual in {MAIN_FIELDS[item.kind]: "", **OTHER_FIELDS[item.kind]}.items():
        if not isinstance(body.get(field), type(usual)):
            message = f"the {field} of a {item.kind} cannot be {str(body.get(field))[:40]!r}"
            raise ValueError(message)  # noqa: TRY004  # whoever reads a file asks for one kind of error
    has_scope = item.kind == CONSTRAINT and (body.get("mode") or body.get("scope"))
    if has_scope and (body.get("mode") not in MODES or read_scope(body.get("scope")) is None):
        message = "the scope of a constraint cannot be read"
        raise ValueError(message)
    return item if body == item.body else item.replace(body=body)

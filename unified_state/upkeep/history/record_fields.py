"""Records of history as JSON objects, and back.

A field has its name on disk, and is omitted if it has its default value. `record` names the kind. Every object that is
read is checked by pydantic against the record's class, and for what no type says, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from unified_state.lib.foreign_values import is_too_deep
from unified_state.lib.text import well_formed
from unified_state.model.constraint import MODES, ORIGINS
from unified_state.model.history_records import (
    COMPACTION,
    ITEM,
    RECORD_KINDS,
    SESSION,
    STEP,
    HistoryRecord,
    StoredItem,
    Tombstone,
    telling_fields,
)
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, MAIN_FIELDS, OTHER_FIELDS, STATUSES
from unified_state.model.scope import read_scope
from unified_state.model.step import KINDS

RECORD, _KEY, _SCOPE = "record", "key", "scope"
_NAMES = {kind: name for name, kind in RECORD_KINDS.items()}
_NEVER_EMPTY = frozenset({"session_id", "uuid", "boundary_uuid", "key", "from_uuid", "to_uuid"})  # where required
_LONGEST_BLOCK = 9  # digits
_MOST = 1 << 63
_CHOICES: dict[object, dict[str, tuple[str, ...]]] = {
    STEP: {"kind": KINDS},
    ITEM: {"kind": tuple(ALIAS_LETTERS), "status": STATUSES, "origin": ORIGINS},
    "tombstone": {"what": (STEP, ITEM, COMPACTION, SESSION)},
}


def to_object(record: HistoryRecord) -> dict[str, Any]:
    """Return the JSON object of a record."""
    kind = type(record)
    return {RECORD: _NAMES[kind], **{kind.disk_names[name]: value for name, value in telling_fields(record).items()}}


def to_record(told: Mapping[str, Any]) -> HistoryRecord:
    """Return the record of a JSON object. Raises ValueError with the reason if the object is invalid."""
    name = told.get(RECORD)
    kind = RECORD_KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise _refused(RECORD, name)
    record = _validated(kind, {field: value for field, value in told.items() if field != RECORD})
    names = _NEVER_EMPTY & kind.required
    choices = _CHOICES.get(name, {})
    for own, value in record.as_dict().items():
        is_name = own not in names or (value and (name not in (ITEM, "link") or value == well_formed(value)))
        is_number = not isinstance(value, int) or -_MOST <= value < _MOST
        if not (is_name and is_number and value in choices.get(own, (value,))) or is_too_deep(value):
            raise _refused(kind.disk_names[own], value)
    if isinstance(record, Tombstone) and record.what == STEP and not _names_step(record.key):
        raise _refused(_KEY, record.key)
    return _checked_body(record) if isinstance(record, StoredItem) else record


def _validated(kind: type[HistoryRecord], told: dict[str, Any]) -> HistoryRecord:
    """Return the record of fields by their names on disk. Those of a newer version are left out."""
    from pydantic import ValidationError

    names = kind.disk_names.values()
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items() if name in names}
    try:
        record: HistoryRecord = validator(_NAMES[kind]).validate_python(given)
    except ValidationError as error:
        name = str(error.errors(include_url=False)[0]["loc"][0])
        raise _refused(name, told.get(name)) from None
    return record


@cache
def validator(name: str) -> Any:
    """Return pydantic's validator of a kind of record."""
    from pydantic import TypeAdapter

    return TypeAdapter(RECORD_KINDS[name])


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
            raise _refused(field, body.get(field))
    has_scope = item.kind == CONSTRAINT and (body.get("mode") or body.get(_SCOPE))
    if has_scope and (body.get("mode") not in MODES or read_scope(body.get(_SCOPE)) is None):
        raise _refused(_SCOPE, body.get(_SCOPE))
    return item if body == item.body else item.replace(body=body)

"""Records of history as the JSON objects of a history file, with unknown fields.

A field has its name on disk, and one with its default value is left out; `record` names the kind. Every object is
checked, whoever wrote it: a record has the types and the choices that the rest of the program relies on.
"""

from __future__ import annotations

from unified_state.lib.foreign_values import is_too_deep
from unified_state.memory.ledger.item_table import OTHER_FIELDS
from unified_state.model.constraint import MODES, ORIGINS
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
from unified_state.model.scope import read_scope
from unified_state.model.step import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from unified_state.lib.record import Record

    R = TypeVar("R", bound=Record)
    from collections.abc import Mapping

    from unified_state.lib.record import Record
    from unified_state.model.history_records import HistoryRecord


UNKNOWN = "unknown"
_MOST = 1 << 63


def telling_fields(record: Record) -> dict[str, Any]:
    """The fields that differ from what they usually are, and those that are always there; by their Python names."""
    usual = type(record)
    return {
        name: value
        for name, value in record.as_dict().items()
        if name in usual.required or value != getattr(usual, name)
    }


def checked_record(kind: type[R], fields: dict[str, Any], newer: dict[str, Any]) -> R:
    """The record of some fields, by their Python names; `newer` are those that this version does not know. Raises
    ValueError, which says what is wrong.
    """
    known = {name: checked_field(kind, name, value) for name, value in fields.items()}
    missing = kind.required - known.keys()
    if missing:
        message = f"the field {kind.disk_names[min(missing)]!r} is missing"
        raise ValueError(message)
    return kind(**known | ({UNKNOWN: {**newer, **known.get(UNKNOWN, {})}} if newer else {}))


def checked_field(kind: type[Record], name: str, value: Any) -> Any:
    """The value of a field in its type. Raises ValueError where it has another one."""
    wanted = _types_of(kind).get(name, "")
    if wanted.startswith("tuple") and isinstance(value, list):
        value = tuple(value)
    if not _fits(wanted, value):
        message = f"{kind.disk_names[name]!r} cannot be {str(value)[:40]!r}"
        raise ValueError(message)
    return value


def _types_of(kind: type[Record]) -> dict[str, str]:
    """The annotations of the fields, which are texts: the record modules put evaluation off."""
    known = _TYPES.get(kind)
    if known is None:
        bases = [base.__dict__.get("__annotations__", {}) for base in reversed(kind.__mro__)]  # noqa: RUF063  # of each class alone
        known = _TYPES[kind] = {name: wanted for base in bases for name, wanted in base.items()}
    return known


def _fits(wanted: str, value: Any) -> bool:
    kind, _, rest = wanted.partition(" | ")
    return rest == "None" if value is None else _TESTS.get(kind, _is_object)(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value < _MOST


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not is_too_deep(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_TYPES: dict[type[Record], dict[str, str]] = {}
_TESTS: dict[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "bool": lambda value: isinstance(value, bool),
    "int": _is_number,
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(map(_is_text, value)),
    "dict[str, str]": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}


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

"""Convert values to the form that PostgreSQL accepts, and back: no NUL or half of an emoji in text, no number beyond 64
bits.

All text is restored exactly. `columns_of` returns the columns of a record's table on the server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any
from zlib import compress

from unified_state.errors import StorageError
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import unpack
from unified_state.memory.history import record_fields
from unified_state.memory.history.record_fields import RECORD, SERVER_COLUMNS, UNKNOWN, field_types, fields_beside
from unified_state.model.history_records import (
    STEP,
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)

_SHOWN = 40  # characters of a damaged record in a message
_LEVEL = 4  # compression level, for texts where higher levels are slow: see `unified_state.lib.text`
_LARGEST = (1 << 63) - 1
_REFUSED = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(\\|u[0-9a-f]{4})")
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUID_BYTES = 16


def to_text(value: str | None) -> Any:
    """Return a text that the server accepts. Refused characters and the escape itself are escaped. None stays None."""
    if value is None:
        return None
    return _REFUSED.sub(lambda found: r"\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", value)


def from_text(stored: str | None) -> Any:
    """Return the original of a text from `to_text`."""
    if stored is None or "\\" not in stored:
        return stored
    return _ESCAPED.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), stored)


def to_body(text: str) -> bytes:
    """Return a long text, compressed."""
    return compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def to_key(uuid: str) -> bytes:
    """Return the 16 bytes of a UUID. Other keys never have that length, because a prefix encodes its own length."""
    if _UUID.fullmatch(uuid):
        return bytes.fromhex(uuid.replace("-", ""))
    encoded = uuid.encode("utf-8", "surrogatepass")
    begin = 2 if len(encoded) == _UUID_BYTES - 1 else 1
    return bytes([begin] * begin) + encoded


def from_key(key: bytes) -> str:
    """Return the original of a key from `to_key`."""
    if len(key) != _UUID_BYTES:
        return key[key[0] :].decode("utf-8", "surrogatepass")
    digits = key.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def to_number(value: int | None) -> int | None:
    """Return a number, limited to 64 bits."""
    return None if value is None else max(-_LARGEST - 1, min(value, _LARGEST))


def to_json(fields: dict[str, Any]) -> str | None:
    """Return fields as ASCII JSON, unchanged, because `jsonb` would change numbers and their order. Return None for no
    fields.
    """
    return dump_ascii_json(fields) if fields else None


def from_json(stored: str | None) -> dict[str, Any]:
    """Return the original fields of JSON from `to_json`. Raises StorageError if the JSON is damaged."""
    if not stored:
        return {}
    try:
        return dict(parse_json(stored))
    except (TypeError, ValueError, RecursionError):
        raise _damaged(stored) from None


def _damaged(stored: object) -> StorageError:
    message = f"a record on the server is damaged: {str(stored)[:_SHOWN]!r}"
    return StorageError(message, "its administrator restores it from a backup; nothing is lost here")


def vector_text(vector: Sequence[float]) -> str:
    """Return a vector in the server's text format."""
    return f"[{','.join(f'{number:.5g}' for number in vector)}]"


class Column(Record):
    """A column on the server: its field, name and type, and the two functions that convert a value."""

    field: str
    name: str
    type: str
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


_FORMS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "str": ("text", to_text, from_text),
    "int": ("bigint", to_number, _same),
    "bool": ("boolean", _same, _same),
    "key": ("bytea", to_key, from_key),
    "body": ("bytea", to_body, unpack),
    "version": ("text", lambda value: to_text(value or ""), from_text),
}
# Name and form of columns that differ from the name and the type of their field.
_OTHERWISE = {
    (StoredStep, "uuid"): ("uuid", "key"),
    (StoredStep, "text"): ("body", "body"),
    (StoredItem, "changed_at"): ("changed_at", "version"),
    (StoredCompaction, "boundary_uuid"): ("boundary", "str"),
}
TABLES: dict[type[Record], str] = {
    StoredSession: "session",
    StoredItem: "item",
    StoredLink: "link",
    StoredCompaction: "compaction",
    Tombstone: "tombstone",
}


def columns_of(kind: type[Record]) -> list[Column]:
    """Return the columns of a record's table. The first one is the key for lookups."""
    types = field_types(kind)
    return [
        Column(field, name, *_FORMS[form])
        for field in SERVER_COLUMNS[kind]
        for name, form in [_OTHERWISE.get((kind, field), (field, types[field].partition(" ")[0]))]
    ]


def to_record(record: Record) -> str | bytes:
    """Return a whole record as ASCII JSON. A compaction has a summary, so its JSON is compressed."""
    kept: dict[str, Any] = getattr(record, UNKNOWN)
    encoded = dump_ascii_json({**disk_value(record.replace(unknown={})), UNKNOWN: kept})
    return to_body(encoded) if isinstance(record, StoredCompaction) else encoded


def from_record(kind: type[Record], stored: str | bytes, *, is_own: bool) -> Any:
    """Return the original record of JSON from `to_record`. Raises StorageError if it is damaged.

    That of another member is checked in every field, since any member can write what he likes into his rows.
    """
    text = unpack(stored)
    told = from_json(text)
    try:
        if not is_own:
            record_fields.to_record({**told, RECORD: TABLES[kind]})
        return kind.from_disk(told)
    except (TypeError, ValueError):
        raise _damaged(text) from None


STEP_COLUMNS = columns_of(StoredStep)
STEP_SELECT = ", ".join(f"step.{name}" for name in (*(column.name for column in STEP_COLUMNS), "unknown"))


def to_extra(step: StoredStep) -> str | None:
    """Return the fields of a step without a column, for the column `unknown`."""
    beside = fields_beside(step, SERVER_COLUMNS)
    extra = {step.disk_names[name]: value for name, value in beside.items() if name not in {"session_id", UNKNOWN}}
    return to_json({**extra, **step.unknown})


def step_of(session_id: str, row: Sequence[Any]) -> StoredStep:
    """Return the step of a row: the values of `STEP_COLUMNS`, then the fields without a column.

    Raises StorageError if the row is damaged.
    """
    *values, extra = row
    try:
        fields = {column.field: column.decode(value) for column, value in zip(STEP_COLUMNS, values, strict=True)}
    except (IndexError, ValueError):  # a key that `to_key` made from no uuid
        raise _damaged(values) from None
    unknown = from_json(extra)
    for name, disk in StoredStep.disk_names.items() if unknown else ():
        if disk in unknown and name not in fields and name not in {"session_id", UNKNOWN}:
            value = unknown.pop(disk)
            fields[name] = tuple(value) if isinstance(value, list) else value
    return StoredStep(session_id=session_id, unknown=unknown, **fields)


_LONGEST = 800  # bytes on the server; an index entry may have 2,700, and a link has three names
_SURELY_SHORT = _LONGEST // 6  # characters: an escaped one takes six bytes
_BEGINNING = 100  # characters
_NAMES: dict[type[Record], tuple[str, ...]] = {
    StoredSession: ("session_id",),
    StoredStep: ("session_id", "uuid"),
    StoredItem: ("uuid", "alias", "aliases"),
    StoredLink: ("from_uuid", "to_uuid", "relation"),
    StoredCompaction: ("session_id", "boundary_uuid"),
    Tombstone: ("key",),
}


def short_name(name: str) -> str:
    """Return a name, or its beginning and a hash if it is too long for an index."""
    if len(name) <= _SURELY_SHORT or len(to_text(name).encode()) <= _LONGEST:
        return name
    return f"{name[:_BEGINNING]}…{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def with_short_names(record: HistoryRecord) -> HistoryRecord:
    """Return the record with short names."""
    long = {}
    for field in _NAMES[type(record)]:
        name = getattr(record, field)
        short = tuple(map(short_name, name)) if isinstance(name, tuple) else short_name(name)
        if short != name:
            long[field] = short
    if "key" in long and isinstance(record, Tombstone) and record.what == STEP:
        uuid, slash, block = record.key.rpartition("/")
        long["key"] = f"{short_name(uuid)}{slash}{block}"
    return record.replace(**long) if long else record

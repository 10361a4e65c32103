"""A history file: all records of a project as JSON Lines, to move them to another tier without loss.

The header has format, version and project. The last line has the number of records and the SHA-256 of all lines before
it, so a truncated or changed file is detected.

A field of a record has its name on disk, and is omitted if it has its default value. `record` names the kind. Every
object that is read is checked by pydantic against the record's class, and for what no type says, whoever wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from typing import Any

from unified_state.errors import ForeignFileError, NewerVersionError, StorageError
from unified_state.lib.files import PRIVATE, write_atomically
from unified_state.lib.foreign_values import is_too_deep
from unified_state.lib.json_text import dump_json, parse_object
from unified_state.lib.package import upgrade_line
from unified_state.lib.read_files import open_regular
from unified_state.lib.record import Record
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

FORMAT, VERSION = "unified-state history", 1
_END = "end"
_SURROGATES = "surrogatepass"  # a text may hold a lone surrogate, which must survive the round trip
_LONGEST_LINE = 1 << 30
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


class Header(Record):
    """The first line of a history file. `handover` is what a hand-over says beside its records."""

    project: str
    handover: dict[str, Any] | None = None


def is_history(first_line: bytes) -> bool:
    """Return whether a file with this first line is a history file, of any version."""
    return FORMAT in str((parse_object(first_line, _SURROGATES) or {}).get("format"))


def write_history(
    path: str,
    project: str,
    records: Iterable[HistoryRecord],
    handover: dict[str, Any] | None = None,
) -> int:
    """Write a history file, readable only by its owner, and return the number of records.

    The file is replaced atomically. Raises StorageError.
    """
    target = os.path.realpath(path)
    is_odd = os.path.exists(path) and not os.path.isfile(path)  # a pipe or a device, which would be replaced
    if is_odd or not os.path.isdir(os.path.dirname(target)):
        message = f"{path} cannot be written: {'it is no file' if is_odd else 'there is no such folder'}"
        raise StorageError(message, "name a file in a folder of yours, on a disk with room")
    digest, count = sha256(), -1  # the header is no record

    def lines() -> Iterator[bytes]:
        nonlocal count
        for line in _lines(project, records, handover):
            digest.update(line)
            count += 1
            yield line
        yield _line({RECORD: _END, "records": count, "sha256": digest.hexdigest()})

    write_atomically(target, lines(), PRIVATE)
    return count


def read_history(path: str) -> Iterator[Header | HistoryRecord]:
    """Yield the header of a history file, then its records. Raises ForeignFileError for an unreadable or damaged file,
    and NewerVersionError for a newer format.
    """
    try:
        with open_regular(path) as file:
            yield from _read(path, file)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise ForeignFileError(message, "name a file that you may read") from error


def _lines(project: str, records: Iterable[HistoryRecord], handover: dict[str, Any] | None) -> Iterator[bytes]:
    beside = {} if handover is None else {"handover": handover}
    yield _line({"format": FORMAT, "version": VERSION, "project": project, **beside})
    for record in records:
        yield _line(to_object(record))


def _line(value: dict[str, Any]) -> bytes:
    return (dump_json(value) + "\n").encode("utf-8", _SURROGATES)


def _read(path: str, lines: Any) -> Iterator[Header | HistoryRecord]:
    digest, count, end = sha256(), 0, None
    for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE), b""), 1):
        told = parse_object(line, _SURROGATES) or {}
        if end is not None or not told or not line.endswith(b"\n"):
            raise _damaged(path, f"line {number} is no line of a history")
        if number == 1:
            yield _header(path, told)
        elif told.get(RECORD) == _END:
            end = (told.get("records"), told.get("sha256"), digest.hexdigest())
        else:
            count += 1
            yield _record(path, number, told)
        digest.update(line)
    if end is None:
        raise _damaged(path, "it ends before its end")
    if end[0] != count or end[1] != end[2]:
        raise _damaged(path, "it is not as it was written")


def _header(path: str, told: dict[str, Any]) -> Header:
    version, project = told.get("version"), told.get("project")
    if not isinstance(version, int) or not isinstance(project, str) or told.get("format") != FORMAT:
        raise _damaged(path, "its header cannot be read")
    if version > VERSION:
        message = f"{path} has version {version} of a history file; this unified-state knows up to {VERSION}"
        raise NewerVersionError(message, f"upgrade unified-state: {upgrade_line()}")
    handover = told.get("handover")
    return Header(project=project, handover=handover if isinstance(handover, dict) else None)


def _record(path: str, number: int, told: dict[str, Any]) -> HistoryRecord:
    try:
        return to_record(told)
    except ValueError as error:
        message = f"line {number} of {path} cannot be used: {error}"
        hint = "upgrade unified-state, if a newer one wrote it; nothing of it was imported"
        raise ForeignFileError(message, hint) from error


def _damaged(path: str, what: str) -> ForeignFileError:
    return ForeignFileError(f"{path} is damaged: {what}", "export it again; nothing of it was imported")


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

"""A history file: all records of a project as JSON Lines, to move them to another tier without loss.

The header has format, version and project. The last line has the number of records and the SHA-256 of all lines before
it, so a truncated or changed file is detected.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from unified_state.errors import ForeignFileError, NewerVersionError, StorageError
from unified_state.lib.files import PRIVATE, write_atomically
from unified_state.lib.json_text import dump_json, parse_object
from unified_state.lib.package import upgrade_line
from unified_state.lib.read_files import open_regular
from unified_state.lib.record import Record
from unified_state.model.history_records import HistoryRecord
from unified_state.upkeep.history.record_fields import RECORD, to_object, to_record

FORMAT, VERSION = "unified-state history", 1
_END = "end"
_SURROGATES = "surrogatepass"  # a text may hold a lone surrogate, which must survive the round trip
_LONGEST_LINE = 1 << 30


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

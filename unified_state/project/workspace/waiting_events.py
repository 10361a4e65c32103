"""Events that wait: what could not be written into the archive is appended to a file, a line of JSON each.

Whoever can write the archive next takes the lines in and removes the file. An item has its UUID already, and what a
hook was told is compared with the transcript, so lines that are taken in twice are there once. The file is beside the
archive, or else beside the state file. There its name has a keyed tag, so that a file which came with a repository is
never taken for the user's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from sqlite3 import DatabaseError
from typing import Any

from unified_state.archive.archive import Archive, storage_error
from unified_state.archive.pending_messages import PendingMessage, keep_message, read_pending
from unified_state.archive.sessions import Cursor, move_cursor, read_cursor, touch_session
from unified_state.errors import DamagedArchiveError, StorageError, UnifiedStateError, UsageError
from unified_state.ledger.item_table import items_called
from unified_state.ledger.record_item import Author, record_item
from unified_state.lib.files import FileLock, append_whole, set_aside
from unified_state.lib.json_text import dump_json, parse_object
from unified_state.lib.read_files import open_regular
from unified_state.project.place import EVENTS, Place, beside_state_file
from unified_state.secrets.masker import Masker

Event = dict[str, Any]

_LOCK_SECONDS = 4.0
_PATIENCE = 1_000  # milliseconds for which the file waits for another writer of the archive
_LONGEST_LINE = 1 << 28  # bytes
_SURROGATES = "surrogatepass"


def waiting_files(place: Place) -> list[str]:
    """Return the files with events that wait."""
    is_beside = os.path.isdir(beside_state_file(place))
    return [path for path in _paths(place, beside=is_beside) if os.path.exists(path)]


def _paths(place: Place, *, beside: bool) -> Iterator[str]:
    """Yield the paths beside the archive, and beside the state file unless the masking key cannot be read."""
    yield os.path.join(place.folder, EVENTS)
    if beside:
        with suppress(StorageError):
            tag = Masker(place.key_folder).tag(f"events of {place.repository.worktree}")
            yield os.path.join(beside_state_file(place), f"events-{tag}.jsonl")


def keep_waiting(place: Place, event: Event) -> str | None:
    """Append an event durably, and return the path of the file; None if it cannot be written anywhere."""
    content = (dump_json(event) + "\n").encode("utf-8", _SURROGATES)
    for path in _paths(place, beside=True):
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with FileLock(f"{path}.lock", _LOCK_SECONDS):
                append_whole(path, content)
        except (OSError, StorageError):
            continue  # the next place may take it
        return path
    return None


def take_waiting(archive: Archive, paths: list[str], seconds: float) -> str | None:
    """Take the events of the files into the archive, and remove the files. Return the problem that remains, or None.

    `seconds` limits the wait for another process that does the same. Raises DamagedArchiveError.
    """
    problem = None
    archive.run(f"PRAGMA busy_timeout = {_PATIENCE}")  # the action itself may have to wait again
    for path in paths:
        try:
            with FileLock(f"{path}.lock", seconds):
                problem = _take_file(archive, path) or problem
        except (OSError, DatabaseError, UnifiedStateError) as error:
            known = error if isinstance(error, UnifiedStateError) else storage_error(error, archive.path)
            if isinstance(known, DamagedArchiveError):
                raise known from error
            problem = f"what waits in {path} is not taken into the archive yet: {known}"
    archive.run(f"PRAGMA busy_timeout = {round(seconds * 1000)}")
    return problem


def _take_file(archive: Archive, path: str) -> str | None:
    if not os.path.exists(path):
        return None  # another process was faster
    damaged = 0
    with open_regular(path) as file:
        for line in iter(lambda: file.readline(_LONGEST_LINE), b""):
            event = parse_object(line, _SURROGATES) or {}
            try:
                if "item" in event:
                    _take_item(archive, event)
                elif line.strip():
                    _take_message(archive, event)
            except (KeyError, TypeError, UsageError):
                damaged += 1
    archive.flush()
    aside = set_aside(path) if damaged else None
    if os.path.exists(path):
        os.unlink(path)
    return f"{damaged} lines of {path} cannot be read; the file was set aside as {aside}" if damaged else None


def _take_item(archive: Archive, event: Event) -> None:
    author = Author(**event["author"])
    is_forgotten = archive.row("SELECT 1 FROM tombstone WHERE what = 'item' AND key = ?", author.uuid)
    if not (is_forgotten or items_called(archive, str(author.uuid))):
        record_item(archive, event["item"], event["body"], author, now=event["at"])


def _take_message(archive: Archive, event: Event) -> None:
    """Register the session, so that its transcript is read, and keep the message until that has it."""
    path, session_id = event["transcript"], event["session"]
    with archive.transaction():
        session = touch_session(archive, session_id, event["at"], worktree=event["worktree"], pid=event["pid"])
        if path and read_cursor(archive, path) is None:
            move_cursor(archive, Cursor(path=path, session=session, agent=None, offset=0, inode=None, turn=None))
    message = PendingMessage(event["kind"], event["text"], event["at"])
    if message.text and message not in read_pending(archive, session_id):
        keep_message(archive, session_id, message)

"""Pending messages: reported by a hook, and archived only if the transcript turns out to lack them."""

from __future__ import annotations

import os
import sys

from unified_state.errors import StorageError
from unified_state.lib.files import FileLock, write_note
from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json, read_regular
from unified_state.lib.text import pack
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.archive.steps import last_turns, texts_since
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.memory.repository.health import PENDING_FOLDER
from unified_state.model.step import NOTICE, PROMPT, TEXT, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.memory.archive.archive import Archive

_ENDING = ".json"
_LARGEST = 1 << 28  # bytes; a message is rarely longer than a prompt
_LOCK_SECONDS = 4.0  # a holder archives one message at most, which may wait for another writer of the archive


class Pending(Record):
    """A message that is not archived yet: its step's kind, its masked text, its time."""

    kind: str
    text: str
    at: int


def pending_lock(archive: Archive) -> FileLock:
    """Return the lock for reading and rewriting pending messages."""
    return FileLock(_folder(archive) + ".lock", _LOCK_SECONDS)


def sessions_with_pending(archive: Archive) -> list[str]:
    """Return the sessions that have pending messages, by the names that `read_pending` takes."""
    try:
        names = sorted(os.listdir(_folder(archive)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)]


def read_pending(archive: Archive, session_id: str) -> list[Pending]:
    """Return the pending messages of a session, in order.

    A damaged file is set aside, because the transcript nearly always has its messages. Raises StorageError if the file
    cannot be read.
    """
    path = _path(archive, session_id)
    try:
        content = read_regular(path, _LARGEST).decode("utf-8", "surrogatepass")
        return [_checked(*fields) for fields in parse_json(content)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (ValueError, TypeError):
        os.rename(path, f"{path}.damaged-{os.urandom(4).hex()}")
        return []
    except OSError as error:
        message = f"the pending messages {path} cannot be read: {error.strerror}"
        raise StorageError(message, "make the file readable") from error


def _checked(kind: Any, text: Any, at: Any) -> Pending:
    if kind not in {PROMPT, TEXT} or not isinstance(text, str) or not isinstance(at, int):
        raise TypeError(kind)
    return Pending(kind, text, at)


def write_pending(archive: Archive, session_id: str, messages: list[Pending]) -> None:
    """Write the pending messages of a session. Without messages the file is deleted."""
    path = _path(archive, session_id)
    if messages:
        if not os.path.isdir(_folder(archive)):
            os.makedirs(_folder(archive), mode=0o700, exist_ok=True)
        content = dump_json([[message.kind, message.text, message.at] for message in messages])
        write_note(path, content.encode("utf-8", "surrogatepass"))
    elif os.path.exists(path):
        os.unlink(path)


def _folder(archive: Archive) -> str:
    return os.path.join(archive.folder, PENDING_FOLDER)


def _path(archive: Archive, session_id: str) -> str:
    name = "".join(character if character.isalnum() or character == "-" else "_" for character in session_id)
    return os.path.join(_folder(archive), name[:100] + _ENDING)


WRITTEN_BY_THEN = 5_000  # milliseconds; the client needs about 100 to write an entry
_CLOCK_SLACK = 3_000  # milliseconds between an entry's own time and its hook
_LONGEST_ANSWER = 60_000  # milliseconds from the time of a text's entry to the end of the turn
_REWORDED = "/<"  # the start of a prompt that the client rewrites in the transcript
ENTRIES = {PROMPT: (PROMPT, NOTICE), TEXT: (TEXT,)}  # the kinds of transcript entries of a message


def keep_message(archive: Archive, session_id: str, message: Pending) -> None:
    """Store a message until it is settled."""
    if message.text.strip():
        with pending_lock(archive):
            write_pending(archive, session_id, [*read_pending(archive, session_id), message])


def settle_messages(archive: Archive, session_id: str, now: int, *, waits: bool = True) -> None:
    """Drop the messages that are archived by now, archive those that the transcript lacks, and keep those that are too
    recent to decide.

    Call it when the session's transcript is archived to its end. Without a transcript to wait for, pass `waits=False`.
    """
    session = session_number(archive, session_id) if read_pending(archive, session_id) else None
    if session is not None:
        with pending_lock(archive):
            _settle(archive, session, session_id, now, waits=waits)


def _settle(archive: Archive, session: int, session_id: str, now: int, *, waits: bool) -> None:
    messages = read_pending(archive, session_id)
    (pid,) = archive.row("SELECT pid FROM session WHERE id = ?", session)
    written_by_then = now - WRITTEN_BY_THEN if waits and is_running(pid) else now
    waiting = [message for message in messages if message.at > written_by_then]
    for message in messages:
        known = _is_archived(archive, session, message)
        if known and message in waiting:
            waiting.remove(message)
        elif not known and message not in waiting:
            _archive(archive, session, session_id, message)
    if waiting != messages:
        write_pending(archive, session_id, waiting)


def forget_messages(archive: Archive, is_meant: Callable[[Pending], bool]) -> None:
    """Delete pending messages of all sessions that `is_meant` selects."""
    for session_id in sessions_with_pending(archive):
        with pending_lock(archive):
            messages = read_pending(archive, session_id)
            kept = [message for message in messages if not is_meant(message)]
            if kept != messages:
                write_pending(archive, session_id, kept)


def is_running(pid: int | None) -> bool:
    """Return whether a client's process may be running: False only if it is known to have ended."""
    if pid is None or sys.platform == "win32":  # on Windows signal 0 is CTRL_C_EVENT
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # it belongs to another user, but exists
    return True


def _is_archived(archive: Archive, session: int, message: Pending) -> bool:
    """Return whether the session has an entry of the message.

    For a prompt it has the same text, or is of about that time if the client rewrites it. For an answer it is its last
    block.
    """
    entries = texts_since(archive, session, ENTRIES[message.kind], message.at - _LONGEST_ANSWER)
    return any(is_said_by(message, at, text.strip()) for at, text in entries)


def is_said_by(message: Pending, at: int, block: str) -> bool:
    """Return whether an entry of that time, with this text or last block, is that of a message."""
    words = message.text.strip()
    if message.kind == TEXT:
        return bool(block) and words.endswith(block)
    about_then = at >= message.at - _CLOCK_SLACK
    return block == words or (about_then and (words[0] in _REWORDED or words.endswith("\n" + block)))


def _archive(archive: Archive, session: int, session_id: str, message: Pending) -> None:
    step = Step(
        uuid=f"{session_id}/{message.kind}/{message.at}",
        block=0,
        kind=message.kind,
        at=message.at,
        text=message.text,
        starts_turn=message.kind == PROMPT,
    )
    with archive.transaction():
        newest = last_turns(archive, session, 1)
        StepWriter(archive, session, newest[0] if newest else None).add(step, pack(message.text))

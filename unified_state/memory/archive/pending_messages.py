"""Pending messages: reported by a hook, and archived only if the transcript turns out to lack them."""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.lib.files import FileLock, write_note
from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json, read_regular
from unified_state.memory.repository.health import PENDING_FOLDER
from unified_state.model.step import NOTICE, PROMPT, TEXT, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from unified_state.memory.archive.archive import Archive

    class InFolder(Protocol):
        """An archive, or its place. The messages are in its folder, so they can be kept without opening it."""

        @property
        def folder(self) -> str:
            """The folder of the archive."""


_ENDING = ".json"
_LONGEST_NAME = 100  # characters
_LARGEST = 1 << 28  # bytes; a message is rarely longer than a prompt
_LOCK_SECONDS = 4.0  # a holder archives one message at most, which may wait for another writer of the archive


class Pending(Record):
    """A message that is not archived yet: its step's kind, its masked text, its time."""

    kind: str
    text: str
    at: int


def pending_lock(archive: InFolder) -> FileLock:
    """Return the lock for reading and rewriting pending messages."""
    return FileLock(_folder(archive) + ".lock", _LOCK_SECONDS)


def sessions_with_pending(archive: InFolder) -> list[str]:
    """Return the sessions that have pending messages, by the names that `read_pending` takes."""
    try:
        names = [name for name in os.listdir(_folder(archive)) if name.endswith(_ENDING)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name.removesuffix(_ENDING) for name in names)


def read_pending(archive: InFolder, session_id: str) -> list[Pending]:
    """Return the pending messages of a session, in order.

    A damaged file is set aside, because the transcript nearly always has its messages. Raises StorageError if a file
    cannot be read.
    """
    messages = _read(_path(archive, session_id))
    return sorted(messages, key=lambda message: message.at)


def _read(path: str) -> list[Pending]:
    try:
        content = parse_json(read_regular(path, _LARGEST).decode("utf-8", "surrogatepass"))
        return [_checked(*fields) for fields in content]
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


def write_pending(archive: InFolder, session_id: str, messages: list[Pending]) -> None:
    """Write the pending messages of a session. Without messages the file is deleted."""
    path = _path(archive, session_id)
    if messages:
        if not os.path.isdir(_folder(archive)):
            os.makedirs(_folder(archive), mode=0o700, exist_ok=True)
        content = dump_json([[message.kind, message.text, message.at] for message in messages])
        write_note(path, content.encode("utf-8", "surrogatepass"))
    elif os.path.exists(path):
        os.unlink(path)


def _folder(archive: InFolder) -> str:
    return os.path.join(archive.folder, PENDING_FOLDER)


def _path(archive: InFolder, session_id: str) -> str:
    plain = "".join(one if one.isalnum() or one == "-" else "_" for one in session_id)[:_LONGEST_NAME]
    return os.path.join(_folder(archive), plain + _ENDING)


WRITTEN_BY_THEN = 5_000  # milliseconds; the client needs about 100 to write an entry
_CLOCK_SLACK = 3_000  # milliseconds between an entry's own time and its hook
_LONGEST_ANSWER = 60_000  # milliseconds from the time of a text's entry to the end of the turn
_REWORDED = "/<"  # the start of a prompt that the client rewrites in the transcript
ENTRIES = {PROMPT: (PROMPT, NOTICE), TEXT: (TEXT,)}  # the kinds of transcript entries of a message


def keep_message(archive: InFolder, session_id: str, message: Pending) -> None:
    """Store a message until it is settled."""
    if message.text.strip():
        with pending_lock(archive):
            write_pending(archive, session_id, [*read_pending(archive, session_id), message])


def settle_messages(archive: Archive, session_id: str, now: int, *, waits: bool = True) -> None:
    """Drop the messages that are archived by now, archive those that the transcript lacks, and keep those that are too
    recent to decide.

    Call it when the session's transcript is archived to its end. Without a transcript to wait for, pass `waits=False`.
    """
    if not read_pending(archive, session_id):
        return
    from unified_state.memory.archive.sessions import session_number

    session = session_number(archive, session_id)
    if session is not None:
        with pending_lock(archive):
            _settle(archive, session, session_id, now, waits=waits)


def _settle(archive: Archive, session: int, session_id: str, now: int, *, waits: bool) -> None:
    from unified_state.memory.archive.sessions import is_running

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


def drop_messages(archive: Archive, session_id: str) -> None:
    """Delete the pending messages of a session."""
    with pending_lock(archive):
        write_pending(archive, session_id, [])


def _is_archived(archive: Archive, session: int, message: Pending) -> bool:
    """Return whether the session has an entry of the message.

    For a prompt it has the same text, or is of about that time if the client rewrites it. For an answer it is its last
    block.
    """
    from unified_state.memory.archive.steps import texts_since

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
    from unified_state.lib.text import pack  # few messages are missing in their transcript
    from unified_state.memory.archive.steps import last_turns
    from unified_state.memory.archive.write_steps import StepWriter

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

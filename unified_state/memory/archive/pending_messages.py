"""Pending messages: reported by a hook, and archived only if the transcript turns out to lack them.

A prompt to which nothing is to be added is only stored here, and the archive is not opened. So the end of a turn leaves
a mark if the session's next prompt gets no addition. It has the state of the archive's files: while they are in this
state, the mark is true.
"""

from __future__ import annotations

import os
import sys

from unified_state.errors import StorageError
from unified_state.lib.files import FileLock, write_note
from unified_state.lib.record import Record
from unified_state.lib.stdlib import SMALL_FILE, dump_json, parse_json, read_regular
from unified_state.memory.repository.health import PENDING_FOLDER, QUIET_FOLDER
from unified_state.model.step import NOTICE, PROMPT, TEXT, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.place import Place

    class InFolder(Protocol):
        """An archive, or its place. The messages are in its folder, so they can be kept without opening it."""

        @property
        def folder(self) -> str:
            """The folder of the archive."""


_ENDING = ".json"
_LARGEST = 1 << 28  # bytes; a message is rarely longer than a prompt
_MOST_MARKS = 100
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
        names = sorted(os.listdir(_folder(archive)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)]


def read_pending(archive: InFolder, session_id: str) -> list[Pending]:
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
    return os.path.join(_folder(archive), _name_of(session_id) + _ENDING)


def _name_of(session_id: str) -> str:
    return "".join(character if character.isalnum() or character == "-" else "_" for character in session_id)[:100]


def may_add_to(place: Place, session_id: str, prompt: str) -> bool:
    """Return False only if nothing is to be added to a prompt: the session has a mark, no process committed to the
    archive since, and the prompt contains none of the mark's names.
    """
    try:
        stamp, names = parse_json(read_regular(_mark_path(place, session_id), SMALL_FILE).decode())
        return stamp is None or stamp != archive_stamp(place.archive_path) or any(name in prompt for name in names)
    except (OSError, ValueError, TypeError):
        return True


def write_mark(place: Place, session_id: str, stamp: list[int], names: list[str]) -> None:
    """Write the mark of a session whose next prompt gets no addition, unless it contains one of the names."""
    path = _mark_path(place, session_id)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if len(os.listdir(os.path.dirname(path))) > _MOST_MARKS:
        drop_marks(place)  # other sessions write theirs again
    write_note(path, dump_json([stamp, names]).encode("utf-8", "surrogatepass"))


def drop_marks(archive: InFolder) -> None:
    """Remove the marks of all sessions, which name files and commands of failed attempts."""
    folder = os.path.join(archive.folder, QUIET_FOLDER)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        try:
            os.unlink(os.path.join(folder, name))
        except FileNotFoundError:
            continue  # another process removes them too


def archive_stamp(path: str) -> list[int] | None:
    """Return numbers that change with every commit, from the archive's file and its log; None without an archive.

    An empty log counts as none: a process that only reads makes and removes one.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    try:
        log = os.stat(f"{path}-wal")
    except OSError:
        log = None
    numbers = [log.st_size, log.st_mtime_ns] if log is not None and log.st_size else [0, 0]
    return [found.st_ino, found.st_size, found.st_mtime_ns, *numbers]


def _mark_path(place: InFolder, session_id: str) -> str:
    return os.path.join(place.folder, QUIET_FOLDER, _name_of(session_id))


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


def keep_first_prompt(archive: InFolder, session_id: str, message: Pending) -> bool:
    """Store a prompt if none is waiting, and return whether it was stored. So an archive is at most a turn behind."""
    with pending_lock(archive):
        messages = read_pending(archive, session_id)
        if any(waiting.kind == PROMPT for waiting in messages):
            return False
        write_pending(archive, session_id, [*messages, message])
    return True


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
    from unified_state.lib.text import pack  # a prompt that is only kept needs none of these
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

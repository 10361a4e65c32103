"""Pending messages: kept when a hook is told of them, archived only if the transcript turned out not to have them."""

from __future__ import annotations

import os
import sys

from unified_state.lib.text.compress import pack
from unified_state.memory.archive.pending_messages import (
    Pending,
    pending_lock,
    read_pending,
    sessions_with_pending,
    write_pending,
)
from unified_state.memory.archive.sessions import session_number
from unified_state.memory.archive.steps import last_turns, texts_since
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.model.step import NOTICE, PROMPT, TEXT, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.memory.archive.archive import Archive

WRITTEN_BY_THEN = 5_000  # milliseconds; the client needs about 100 to write an entry
_CLOCK_SLACK = 3_000  # milliseconds between an entry's own time and the hook that tells of it
_LONGEST_ANSWER = 60_000  # milliseconds from the time of a text's entry to the end of the turn
_REWORDED = "/<"  # how a prompt begins that stands in the transcript in other words
ENTRIES = {PROMPT: (PROMPT, NOTICE), TEXT: (TEXT,)}  # what stands in the transcript for a message of the kind


def keep_message(archive: Archive, session_id: str, message: Pending) -> None:
    """Remember a message until it is settled."""
    if message.text.strip():
        with pending_lock(archive):
            write_pending(archive, session_id, [*read_pending(archive, session_id), message])


def settle_messages(archive: Archive, session_id: str, now: int, *, waits: bool = True) -> None:
    """Drop the messages that the archive has by now, archive those that the transcript lost, keep those too young to
    tell.

    Call it when the session's transcript is archived to its end; where there is none to wait for, say so.
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
    """Drop pending messages for good, of whatever session."""
    for session_id in sessions_with_pending(archive):
        with pending_lock(archive):
            messages = read_pending(archive, session_id)
            kept = [message for message in messages if not is_meant(message)]
            if kept != messages:
                write_pending(archive, session_id, kept)


def is_running(pid: int | None) -> bool:
    """Whether the process of a client is not known to be gone."""
    if pid is None or sys.platform == "win32":  # where signal 0 is no question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # not ours to signal, but there
    return True


def _is_archived(archive: Archive, session: int, message: Pending) -> bool:
    """Whether the session has an entry of the message: of a prompt its words (where the client
    writes it in other ones, an entry of about that time), of an answer its last block.
    """
    entries = texts_since(archive, session, ENTRIES[message.kind], message.at - _LONGEST_ANSWER)
    return any(is_said_by(message, at, text.strip()) for at, text in entries)


def is_said_by(message: Pending, at: int, block: str) -> bool:
    """Whether an entry of that time, whose text or last block this is, stands for a message."""
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

"""Messages that a hook was told and the session's transcript may not have yet: a prompt, or the last answer.

Each is a note of its session until its entry is archived. If the transcript lacks it, the message itself is archived.
"""

from __future__ import annotations

from collections.abc import Callable

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import is_running, session_number, touch_session
from unified_state.archive.steps import last_turns, texts_since
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.record import Record
from unified_state.lib.text import escape_surrogates, pack
from unified_state.lib.times import to_milliseconds, to_text
from unified_state.model.step import NOTICE, PROMPT, TEXT, Step


class PendingMessage(Record):
    """A message that is not archived yet: its step's kind, its masked text, its time."""

    kind: str
    text: str
    at: int


_WAITS = "waiting "  # the start of the kind of such a note; no other reader of notes asks for it
_LIST = "SELECT kind, text, at FROM note WHERE session = ? AND kind GLOB ? ORDER BY at, id"
_DROP = "DELETE FROM note WHERE session = ? AND kind = ? AND text = ? AND at = ?"


def read_pending(archive: Archive, session_id: str) -> list[PendingMessage]:
    """Return the pending messages of a session, in order."""
    session = session_number(archive, session_id)
    rows = archive.rows(_LIST, session, f"{_WAITS}*")
    return [PendingMessage(kind.removeprefix(_WAITS), text, to_milliseconds(at) or 0) for kind, text, at in rows]


WRITTEN_BY_THEN = 5_000  # milliseconds; the client needs about 100 to write an entry
_CLOCK_SLACK = 3_000  # milliseconds between an entry's own time and its hook
_LONGEST_ANSWER = 60_000  # milliseconds from the time of a text's entry to the end of the turn
_REWORDED = "/<"  # the start of a prompt that the client rewrites in the transcript
ENTRIES = {PROMPT: (PROMPT, NOTICE), TEXT: (TEXT, NOTICE)}  # the kinds of transcript entries of a message


def keep_message(archive: Archive, session_id: str, message: PendingMessage) -> None:
    """Store a message until it is settled."""
    if message.text.strip():
        with archive.transaction(durable=False):
            session = touch_session(archive, session_id, message.at)
            kind, at = f"{_WAITS}{message.kind}", to_text(message.at)
            archive.insert("note", session=session, kind=kind, text=message.text, at=at)


def settle_messages(archive: Archive, session_id: str, now: int, *, waits: bool = True) -> None:
    """Drop the messages that are archived by now, archive those that the transcript lacks, and keep those that are too
    recent to decide.

    Call it when the session's transcript is archived to its end. Without a transcript to wait for, pass `waits=False`.
    """
    if not read_pending(archive, session_id):
        return
    with archive.transaction():
        session, pid = archive.row("SELECT id, pid FROM session WHERE session_id = ?", session_id)
        written_by_then = now - WRITTEN_BY_THEN if waits and is_running(pid) else now
        for message in read_pending(archive, session_id):
            known = _is_archived(archive, session, message)
            if not known and message.at > written_by_then:
                continue
            if not known:
                _archive(archive, session, session_id, message)
            archive.run(_DROP, session, f"{_WAITS}{message.kind}", message.text, to_text(message.at))


def forget_messages(archive: Archive, is_meant: Callable[[str], bool]) -> None:
    """Delete pending messages of all sessions whose texts `is_meant` selects."""
    for number, text in archive.rows("SELECT id, text FROM note WHERE kind GLOB ?", f"{_WAITS}*"):
        if is_meant(text):
            archive.run("DELETE FROM note WHERE id = ?", number)


def _is_archived(archive: Archive, session: int, message: PendingMessage) -> bool:
    """Return whether the session has an entry of the message.

    For a prompt it has the same text, or is of about that time if the client rewrites it. For an answer it is its last
    block.
    """
    entries = texts_since(archive, session, ENTRIES[message.kind], message.at - _LONGEST_ANSWER)
    return any(is_said_by(message, at, escape_surrogates(text.strip())) for at, text in entries)


def is_said_by(message: PendingMessage, at: int, block: str) -> bool:
    """Return whether an entry of that time, with this text or last block, is that of a message."""
    words = message.text.strip()
    if message.kind == TEXT:
        return bool(block) and words.endswith(block)
    about_then = at >= message.at - _CLOCK_SLACK
    return block == words or (about_then and (words[0] in _REWORDED or words.endswith("\n" + block)))


def _archive(archive: Archive, session: int, session_id: str, message: PendingMessage) -> None:
    step = Step(
        uuid=f"{session_id}/{message.kind}/{message.at}",
        block=0,
        kind=message.kind,
        at=message.at,
        text=message.text,
        starts_turn=message.kind == PROMPT,
    )
    newest = last_turns(archive, session, 1)
    StepWriter(archive, session, newest[0] if newest else None).add(step, pack(message.text))

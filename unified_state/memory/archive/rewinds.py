"""Rewinds: the parts of a session that its user took back, by the times between which they were said."""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.memory.archive.steps import uuid_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Continuation


class EntryPlace(Record):
    """Where a transcript entry stands in the archive: its turn, and when it was written."""

    turn: int
    at: int


class Rewind(Record):
    """A part of a session that its user took back: what it said after one time and until the other."""

    session_id: str
    after_at: int
    until_at: int


def place_of_entry(archive: Archive, uuid: str) -> EntryPlace | None:
    """Where an entry stands; None where it is not archived."""
    row = archive.row("SELECT max(turn), max(at) FROM step WHERE uuid = ?", uuid_key(uuid))
    return None if row[0] is None else EntryPlace(*row)


def has_later_turn(archive: Archive, session: int, turn: int) -> bool:
    """Whether a session itself said something in a later turn. What only a hook told of (its entry's name is no UUID)
    never stood in the conversation.
    """
    query = (
        "SELECT 1 FROM turn JOIN step ON step.turn = turn.id WHERE session = ? AND turn.id > ? AND agent IS NULL "
        "AND typeof(step.uuid) = 'blob' LIMIT 1"
    )
    return archive.row(query, session, turn) is not None


def keep_continuation_of(archive: Archive, session: int, parent: str, at: int) -> int:
    """A prompt of the session stands behind an entry; when the first one there did."""
    key = uuid_key(parent)
    archive.run("INSERT OR IGNORE INTO continuation VALUES (?, ?, ?)", session, key, at)
    return int(archive.row("SELECT at FROM continuation WHERE session = ? AND parent = ?", session, key)[0])


def keep_rewind(archive: Archive, session: int, after_at: int, until_at: int) -> None:
    """The user took back what the session said between two times."""
    archive.run("INSERT OR REPLACE INTO rewind VALUES (?, ?, ?)", session, after_at, until_at)


def read_rewinds(archive: Archive) -> list[Rewind]:
    """Everything that was taken back, of all sessions."""
    rows = archive.rows(
        "SELECT session_id, after_at, until_at FROM rewind JOIN session ON session.id = session ORDER BY until_at"
    )
    return [Rewind(*row) for row in rows]


def keep_continuation(archive: Archive, session: int, found: Continuation) -> None:
    """A prompt stands in the transcript: keep what it took back. Call it before the prompt is archived; one that is
    archived already took nothing back.
    """
    first = keep_continuation_of(archive, session, found.parent or "", found.at)
    if place_of_entry(archive, found.uuid) is not None:
        return
    parent = place_of_entry(archive, found.parent) if found.parent else None
    if parent is not None and has_later_turn(archive, session, parent.turn):
        keep_rewind(archive, session, parent.at, found.at)
    elif first < found.at:
        keep_rewind(archive, session, first - 1, found.at)

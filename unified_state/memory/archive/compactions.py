"""Compactions and rewinds in the archive: when the client cut a conversation, its summary, what we gave back, and which
parts the user took back.

A compaction is heard of several times and not always in this order: PreCompact, the raw summary at its SubagentStop,
SessionStart(compact), PostCompact, and at last the boundary and the summary in the transcript. One that has no boundary
yet is open, and all but the transcript speak of it; a compaction that failed stays open and is taken up by the next
one.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.text import pack, unpack
from unified_state.memory.archive.steps import uuid_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Boundary, Continuation, Summary


# How well a summary is known: the transcript has it last, but only its readable part; the hooks have it raw.
SUBAGENT_STOP, POST_COMPACT, TRANSCRIPT = "subagent_stop", "post_compact", "transcript"


class Compaction(Record):
    """One compaction: K2. What the session said since `kept_at` still stands in the conversation."""

    id: int
    session: int
    trigger: str | None
    started_at: int
    boundary_uuid: str | None
    boundary_at: int | None
    kept_at: int | None
    pre_tokens: int | None
    last_step: int | None
    summary_from: str | None
    summary: str | None


class Restore(Record):
    """One text that a session was given back, and whether it reached the model."""

    nonce: str
    session: int
    compaction: int | None
    part: str
    at: int
    delivered_at: int | None
    text: str


_SELECT = (
    "SELECT id, session, trigger, started_at, boundary_uuid, boundary_at, kept_at, pre_tokens, last_step, "
    "summary_from, summary FROM compaction WHERE "
)


def find_compaction(archive: Archive, number: int) -> Compaction | None:
    """A compaction by its number."""
    return _compaction(archive.row(_SELECT + "id = ?", number))


def latest_compaction(archive: Archive, session: int) -> Compaction | None:
    """The newest compaction of a session, open or not."""
    return _compaction(archive.row(_SELECT + "session = ? ORDER BY id DESC LIMIT 1", session))


def begin_compaction(archive: Archive, session: int, now: int, trigger: str | None = None) -> Compaction:
    """The session's open compaction, begun now if there is none."""
    latest = latest_compaction(archive, session)
    if latest is None or latest.boundary_uuid is not None:
        archive.run(
            "INSERT INTO compaction (session, trigger, started_at, last_step) "
            "VALUES (?, ?, ?, (SELECT max(id) FROM step))",
            session,
            trigger,
            now,
        )
        latest = latest_compaction(archive, session)
        assert latest is not None  # noqa: S101  # inserted above
    return latest


def restart_compaction(archive: Archive, session: int, now: int, trigger: str | None) -> Compaction:
    """PreCompact: an open compaction is begun again, since the one before it failed or this is its second hook."""
    compaction = begin_compaction(archive, session, now, trigger)
    archive.run(
        "UPDATE compaction SET trigger = ?, started_at = ?, last_step = (SELECT max(id) FROM step), summary = NULL, "
        "summary_from = NULL WHERE id = ?",
        trigger,
        now,
        compaction.id,
    )
    return compaction.replace(trigger=trigger, started_at=now, summary=None, summary_from=None)


def keep_summary(archive: Archive, compaction: Compaction, text: str, source: str) -> None:
    """Keep the client's summary; what a hook was told is not replaced by the transcript's later, shorter form."""
    if source == TRANSCRIPT and compaction.summary is not None:
        return
    archive.run("UPDATE compaction SET summary = ?, summary_from = ? WHERE id = ?", pack(text), source, compaction.id)


def keep_boundary(archive: Archive, session: int, boundary: Boundary) -> None:
    """The transcript holds the boundary: it closes the open compaction, or tells of one that no hook saw."""
    if archive.row("SELECT 1 FROM compaction WHERE boundary_uuid = ?", boundary.uuid):
        return  # read again, or copied into a fork
    compaction = begin_compaction(archive, session, boundary.at)
    archive.run(
        "UPDATE compaction SET boundary_uuid = ?, boundary_at = ?, "
        "kept_at = coalesce((SELECT min(at) FROM step WHERE uuid = ?), ?), pre_tokens = ?, "
        "trigger = coalesce(trigger, ?) WHERE id = ?",
        boundary.uuid,
        boundary.at,
        uuid_key(boundary.kept_from or ""),
        boundary.at,
        boundary.pre_tokens,
        boundary.trigger,
        compaction.id,
    )


def keep_transcript_summary(archive: Archive, session: int, summary: Summary) -> Compaction | None:
    """The transcript holds a summary: it belongs to the newest compaction whose boundary stands there too, which is
    returned where no hook had told of its summary before.
    """
    row = archive.row(_SELECT + "session = ? AND boundary_uuid NOT NULL ORDER BY id DESC LIMIT 1", session)
    compaction = _compaction(row)
    if compaction is None or compaction.summary is not None:
        return None
    keep_summary(archive, compaction, summary.text, TRANSCRIPT)
    return compaction


def keep_restore(archive: Archive, restore: Restore) -> None:
    """Remember what a session is given back, before it is printed."""
    archive.run(
        "INSERT INTO restore (nonce, session, compaction, part, at, body) VALUES (?, ?, ?, ?, ?, ?)",
        restore.nonce,
        restore.session,
        restore.compaction,
        restore.part,
        restore.at,
        pack(restore.text),
    )


def mark_delivered(archive: Archive, nonces: tuple[str, ...], now: int) -> None:
    """The texts with these nonces stand in the conversation."""
    for nonce in nonces:
        archive.run("UPDATE restore SET delivered_at = coalesce(delivered_at, ?) WHERE nonce = ?", now, nonce)


def restores_of(archive: Archive, compaction: int) -> list[Restore]:
    """What was given back after a compaction, in order."""
    rows = archive.rows(
        "SELECT nonce, session, compaction, part, at, delivered_at, body FROM restore WHERE compaction = ? ORDER BY at",
        compaction,
    )
    return [Restore(**{**dict(zip(Restore.names, row, strict=True)), "text": unpack(row[-1])}) for row in rows]


def _compaction(row: Any) -> Compaction | None:
    if row is None:
        return None
    known = dict(zip(Compaction.names, row, strict=True))
    return Compaction(**{**known, "summary": None if row[-1] is None else unpack(row[-1])})


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

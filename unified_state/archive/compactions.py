"""Compactions and rewinds in the archive: the boundary of each compaction, its summary, the restored texts, and the
parts that the user took back.

A compaction is reported several times and not always in this order: PreCompact, the raw summary at its SubagentStop,
SessionStart(compact), and at last the boundary and the summary in the transcript. A compaction without a
boundary is open, and all reports except those of the transcript refer to it. One that failed stays open, and the next
one reuses it.
"""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS, STANDS, uuid_key
from unified_state.lib.record import Record
from unified_state.lib.text import pack, unpack
from unified_state.model.step import PROMPT, Boundary, Continuation, RewindMark, Summary


class Compaction(Record):
    """One compaction, such as K2. The part of the session since `kept_at` is still in the conversation."""

    id: int
    session: int
    trigger: str | None
    started_at: int
    boundary_uuid: str | None
    boundary_at: int | None
    kept_at: int | None
    pre_tokens: int | None
    summary: str | None


class Restore(Record):
    """One text restored to a session, and whether it reached the model."""

    nonce: str
    session: int
    compaction: int | None
    part: str
    at: int
    delivered_at: int | None
    text: str


_SELECT = f"SELECT {', '.join(Compaction.names)} FROM compaction WHERE "


def find_compaction(archive: Archive, number: int) -> Compaction | None:
    """Return a compaction by its number, or None."""
    return _compaction(archive.row(_SELECT + "id = ?", number))


def latest_compaction(archive: Archive, session: int) -> Compaction | None:
    """Return the newest compaction of a session, open or not, or None."""
    return _compaction(archive.row(_SELECT + "session = ? ORDER BY id DESC LIMIT 1", session))


def compactions_of(archive: Archive, session: int, limit: int) -> list[Compaction]:
    """Return the newest compactions of a session, the newest first."""
    rows = archive.rows(_SELECT + "session = ? ORDER BY id DESC LIMIT ?", session, limit)
    return [found for row in rows if (found := _compaction(row)) is not None]


def begin_compaction(archive: Archive, session: int, now: int, trigger: str | None = None) -> Compaction:
    """Return the session's open compaction, which is started now if there is none."""
    latest = latest_compaction(archive, session)
    if latest is None or latest.boundary_uuid is not None:
        archive.insert("compaction", session=session, trigger=trigger, started_at=now)
        return begin_compaction(archive, session, now)
    return latest


def restart_compaction(archive: Archive, session: int, now: int, trigger: str | None) -> Compaction:
    """Restart the open compaction at PreCompact, because the previous one failed or this is its second hook.
    Return it.
    """
    compaction = begin_compaction(archive, session, now, trigger)
    change = "UPDATE compaction SET trigger = ?, started_at = ?, summary = NULL WHERE id = ?"
    archive.run(change, trigger, now, compaction.id)
    return compaction.replace(trigger=trigger, started_at=now, summary=None)


def keep_summary(archive: Archive, compaction: Compaction, text: str) -> None:
    """Store the client's summary. The hooks have it raw, the transcript only its readable part."""
    archive.run("UPDATE compaction SET summary = ? WHERE id = ?", pack(text), compaction.id)


def keep_boundary(archive: Archive, session: int, boundary: Boundary) -> None:
    """Store the boundary in the transcript. It closes the open compaction, or adds one that no hook reported."""
    if archive.row("SELECT 1 FROM compaction WHERE boundary_uuid = ?", boundary.uuid):
        return  # read again, or copied into a fork
    compaction = begin_compaction(archive, session, boundary.at)
    change = (
        "UPDATE compaction SET boundary_uuid = ?2, boundary_at = ?3, pre_tokens = ?4, "
        "kept_at = coalesce((SELECT min(at) FROM step WHERE uuid = ?5), ?3), trigger = coalesce(trigger, ?6) "
        "WHERE id = ?1"
    )
    kept_from = uuid_key(boundary.kept_from or "")
    values = boundary.uuid, boundary.at, boundary.pre_tokens, kept_from, boundary.trigger
    archive.run(change, compaction.id, *values)


def keep_transcript_summary(archive: Archive, session: int, summary: Summary) -> Compaction | None:
    """Store a summary in the transcript with the newest compaction that has a boundary.

    Return that compaction, or None if a hook had already reported its summary.
    """
    row = archive.row(_SELECT + "session = ? AND boundary_uuid NOT NULL ORDER BY id DESC LIMIT 1", session)
    compaction = _compaction(row)
    if compaction is None or compaction.summary is not None:
        return None
    keep_summary(archive, compaction, summary.text)
    return compaction


def keep_restore(archive: Archive, restore: Restore) -> None:
    """Store a text before it is restored to a session."""
    fields = restore.as_dict()
    archive.insert("restore", body=pack(fields.pop("text")), **fields)


def mark_delivered(archive: Archive, nonces: tuple[str, ...], now: int) -> None:
    """Record that the texts with these nonces are in the conversation."""
    for nonce in nonces:
        archive.run("UPDATE restore SET delivered_at = coalesce(delivered_at, ?) WHERE nonce = ?", now, nonce)


def restores_of(archive: Archive, compaction: int) -> list[Restore]:
    """Return the texts restored after a compaction, in order."""
    return _restores(archive, "compaction = ?", compaction)


def restores_between(archive: Archive, session: int, begin: int, end: int) -> list[Restore]:
    """Return the texts restored to a session from one time to before another, in order."""
    return _restores(archive, "session = ? AND at >= ? AND at < ?", session, begin, end)


def _restores(archive: Archive, condition: str, *values: int) -> list[Restore]:
    query = f"SELECT {', '.join(Restore.names[:-1])}, body FROM restore WHERE {condition} ORDER BY at"
    return [Restore(*(*row, unpack(body))) for *row, body in archive.rows(query, *values)]


def _compaction(row: Any) -> Compaction | None:
    return None if row is None else Compaction(*(*row[:-1], None if row[-1] is None else unpack(row[-1])))


def place_of_entry(archive: Archive, uuid: str) -> tuple[int, int] | None:
    """Return the turn and the time of an entry; None if it is not archived."""
    row: tuple[int | None, int] = archive.row("SELECT max(turn), max(at) FROM step WHERE uuid = ?", uuid_key(uuid))
    return None if row[0] is None else (row[0], row[1])


def has_later_turn(archive: Archive, session: int, turn: int) -> bool:
    """Return whether a session itself has entries in a later turn.

    Messages that only a hook reported do not count, because they were never in the conversation. Their uuid is no UUID.
    """
    query = (
        "SELECT 1 FROM turn JOIN step ON step.turn = turn.id WHERE session = ? AND turn.id > ? AND agent IS NULL "
        "AND typeof(step.uuid) = 'blob' LIMIT 1"
    )
    return archive.row(query, session, turn) is not None


def keep_rewind(archive: Archive, session: int, after_at: int, until_at: int) -> None:
    """Record that the user took back the part of a session between two times."""
    archive.insert("rewind", how="OR REPLACE", session=session, after_at=after_at, until_at=until_at)


def was_taken_back(archive: Archive, session: int, at: int) -> bool:
    """Return whether the user took back the part of a session in which a time lies."""
    part = "SELECT 1 FROM rewind WHERE session = ? AND after_at < ? AND until_at >= ?"
    return archive.row(part, session, at, at) is not None


def keep_continuation(archive: Archive, session: int, found: Continuation) -> bool:
    """Record a prompt in the transcript and the part that it took back. Return whether another part stands than before.

    Call it before the prompt is archived. A prompt that is already archived took nothing back.
    """
    key = uuid_key(found.parent or "")
    archive.run("INSERT OR IGNORE INTO continuation VALUES (?, ?, ?)", session, key, found.at)
    first = int(archive.row("SELECT at FROM continuation WHERE session = ? AND parent = ?", session, key)[0])
    if place_of_entry(archive, found.uuid) is not None:
        return False
    parent = place_of_entry(archive, found.parent) if found.parent else None
    # The conversation may go on in a part that was taken back before.
    stands = "DELETE FROM rewind WHERE session = ?1 AND after_at < ?2 AND until_at > ?2"
    returned = parent is not None and archive.run(stands, session, parent[1]) > 0
    if parent is not None and has_later_turn(archive, session, parent[0]):
        keep_rewind(archive, session, parent[1], found.at)
    elif first < found.at:
        keep_rewind(archive, session, first - 1, found.at)
    else:
        return returned
    return True


def keep_went_back(archive: Archive, session: int, found: RewindMark, turn: int | None) -> bool:
    """Record the part that a host says was taken back. Return whether it is new.

    `turn` is the last one that was read. What is archived of later ones is not meant: the transcript is read again.
    """
    last = archive.value("SELECT max(at) FROM step WHERE turn = ?", turn)
    until = found.at or (last or 0) + 1
    after = _went_back_to(archive, session, found, turn, until)
    known = "SELECT 1 FROM rewind WHERE session = ? AND after_at = ? AND until_at >= ?"
    if after is None or archive.row(known, session, after, until):
        return False
    keep_rewind(archive, session, after, until)
    return True


def _went_back_to(archive: Archive, session: int, found: RewindMark, turn: int | None, until: int) -> int | None:
    """Return the time after which nothing stands, or None if nothing was taken back."""
    entry = found.after or found.first
    if entry is not None:
        place = place_of_entry(archive, entry)
        if place is None or turn is None:
            return None
        entry_turn, at = place
        return at - 1 if found.first else at if entry_turn < turn else None
    if archive.row("SELECT 1 FROM rewind WHERE session = ? AND until_at = ?", session, until):
        return None  # read again
    query = (
        "SELECT step.at FROM step JOIN turn ON turn.id = step.turn WHERE turn.session = ?1 AND kind = ?2 "
        f"AND step.at < ?3 AND {STANDS} ORDER BY step.id DESC LIMIT 1 OFFSET ?4"
    )
    begins = archive.value(query, session, KIND_NUMBERS[PROMPT], until, found.turns - 1)
    return None if begins is None else begins - 1

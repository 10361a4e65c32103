"""Forgetting: what the user wants gone leaves the archive for good, and does not come back with a later ingest.

The rows of steps stay without their content, as tombstones; the index is merged and the file written anew, so that the
bytes are gone too. The client's own transcript is the client's: it is not touched.
"""

from __future__ import annotations

from unified_state.errors import NotFoundError, UsageError
from unified_state.records.record import Record
from unified_state.rules.packing import pack, unpack
from unified_state.rules.refs import COMPACTION, ITEM, STEP, TURN, parse_ref
from unified_state.services.pending import forget_messages
from unified_state.storage.ledger import find_item, forget_item, list_items
from unified_state.storage.pending import write_pending
from unified_state.storage.sessions import session_number
from unified_state.storage.step_writing import forget_step
from unified_state.storage.steps import find_step, step_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.storage.archive import Archive

_FORGOTTEN = "[forgotten]"


class Forgotten(Record):
    """How much was forgotten."""

    steps: int = 0
    items: int = 0
    summaries: int = 0


def forget_ref(archive: Archive, ref: str) -> Forgotten:
    """Forget one item, turn, step or compaction."""
    kind, number = parse_ref(ref)
    if kind == ITEM:
        item = find_item(archive, ref)
        return _forget(archive, items=[item.uuid])
    if kind == TURN:
        rows = archive.rows("SELECT id FROM step WHERE turn = ? AND kind NOT NULL", number)
    elif kind == STEP:
        rows = [(number,)] if find_step(archive, number) else []
    else:
        rows = []
    summaries = archive.rows("SELECT id FROM compaction WHERE id = ?", number) if kind == COMPACTION else []
    if not rows and not summaries:
        message = f"there is nothing to forget at {ref}"
        raise NotFoundError(message, "`unified-state search` finds refs")
    texts = {_words(archive, number) for (number,) in rows}
    forget_messages(archive, lambda message: message.text.strip() in texts)
    return _forget(archive, steps=[row[0] for row in rows], summaries=[row[0] for row in summaries])


def forget_session(archive: Archive, session_id: str, now: int) -> Forgotten:
    """Forget a session: its steps, and also what its transcript holds up to now and was not archived yet."""
    number = session_number(archive, session_id)
    if number is None:
        message = f"there is no session {session_id} in the archive"
        raise NotFoundError(message, "`unified-state search` names the sessions it finds")
    summaries = [row[0] for row in archive.rows("SELECT id FROM compaction WHERE session = ?", number)]
    forgotten = _forget(archive, steps=step_numbers(archive, number), summaries=summaries, tidy=False)
    write_pending(archive, session_id, [])
    with archive.transaction():
        archive.run("UPDATE session SET forgotten_at = ?, work = NULL WHERE id = ?", now, number)
        archive.run("DELETE FROM note WHERE session = ?", number)
        archive.run("DELETE FROM restore WHERE session = ?", number)
    _tidy(archive)
    return forgotten


def forget_text(archive: Archive, text: str) -> Forgotten:
    """Forget every step, item and summary that holds a text, as it stands, in upper or lower case."""
    if not text.strip():
        message = "the text to forget is empty"
        raise UsageError(message, "give a text that stands in what shall go")
    folded = text.lower()
    steps = [
        number
        for number, body in archive.connection.execute("SELECT id, body FROM step WHERE kind NOT NULL")
        if folded in unpack(body).lower()
    ]
    items = [item.uuid for item in list_items(archive) if folded in str(item.body).lower()]
    summaries = [
        number
        for number, summary in archive.rows("SELECT id, summary FROM compaction WHERE summary NOT NULL")
        if folded in unpack(summary).lower()
    ]
    forgotten = _forget(archive, steps=steps, items=items, summaries=summaries, tidy=False)
    _forget_notes(archive, folded)
    forget_messages(archive, lambda message: folded in message.text.lower())
    _tidy(archive)
    return forgotten


def _forget(
    archive: Archive,
    *,
    steps: list[int] | None = None,
    items: list[str] | None = None,
    summaries: list[int] | None = None,
    tidy: bool = True,
) -> Forgotten:
    with archive.transaction():
        for number in steps or []:
            forget_step(archive.connection.execute, number)
        for uuid in items or []:
            forget_item(archive, uuid)
        for number in summaries or []:
            archive.run("UPDATE compaction SET summary = ? WHERE id = ?", pack(_FORGOTTEN), number)
            archive.run("UPDATE restore SET body = ? WHERE compaction = ?", pack(_FORGOTTEN), number)
    if tidy:
        _tidy(archive)
    return Forgotten(len(steps or []), len(items or []), len(summaries or []))


def _words(archive: Archive, step: int) -> str:
    found = find_step(archive, step)
    return found.text.strip() if found else ""


def _forget_notes(archive: Archive, folded: str) -> None:
    with archive.transaction():
        for number, text in archive.rows("SELECT id, text FROM note"):
            if folded in text.lower():
                archive.run("DELETE FROM note WHERE id = ?", number)
        for number, work in archive.rows("SELECT id, work FROM session WHERE work NOT NULL"):
            if folded in work.lower():
                archive.run("UPDATE session SET work = NULL WHERE id = ?", number)
        for nonce, body in archive.rows("SELECT nonce, body FROM restore"):
            if folded in unpack(body).lower():
                archive.run("UPDATE restore SET body = ? WHERE nonce = ?", pack(_FORGOTTEN), nonce)


def _tidy(archive: Archive) -> None:
    """Merge the index, so that deleted words leave it, and write the file anew without its free pages."""
    archive.run("INSERT INTO step_text (step_text) VALUES ('optimize')")
    archive.connection.execute("VACUUM")

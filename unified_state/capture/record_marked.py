"""Recording what the user marks in a prompt: an item of their own at once, or a decision about proposals.

Call it only where the user typed the prompt (see `is_typed_by_user`). What a transcript alone tells is proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.session_work import TODO, add_note, list_notes
from unified_state.archive.sessions import session_number
from unified_state.capture.record_facts import was_captured
from unified_state.capture.rules.marked_words import ACCEPT, Mark
from unified_state.errors import NotAtGateError, UnifiedStateError
from unified_state.ledger.change_log import ADDS, log_note
from unified_state.ledger.decide_proposal import accept, reject
from unified_state.ledger.item_table import ACTIVE, PROPOSED, list_items, selected_items, update_item
from unified_state.ledger.record_item import Author, record_item
from unified_state.ledger.rules.item_lines import harmless
from unified_state.ledger.rules.short_item import main_text
from unified_state.lib.text import cut
from unified_state.lib.times import to_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import LedgerItem
from unified_state.model.step import Step

_SHOWN = 160  # characters of an item
_UNDO = "; `unified-state undo` takes it back"


def record_marked(archive: Archive, marks: Iterable[Mark], author: Author, now: int) -> list[str]:
    """Record marked lines as the user's, and return a line about each one."""
    return [_record(archive, mark, author, now) for mark in marks]


def _record(archive: Archive, mark: Mark, author: Author, now: int) -> str:
    if mark.word == TODO:
        return _record_todo(archive, mark, author, now)
    known = _same_items(archive, mark)
    own = [item for item in known if item.status == ACTIVE and item.origin == USER_SAID]
    if own:
        return f"[RECORDED] already: {_told(own[0], mark.word)}"
    waiting = [item.alias for item in known if item.status == PROPOSED]
    if waiting:
        return decide(archive, ACCEPT, waiting[:1], author.session_id, now)
    key = None if was_captured(archive, mark.key) else mark.key  # the user may say again what was taken back
    author = author.replace(quote=mark.line, capture_key=key)
    item = record_item(archive, mark.kind, mark.body, author, now=now)
    return f"[RECORDED] {_told(item, mark.word)}{_UNDO}"


def _record_todo(archive: Archive, mark: Mark, author: Author, now: int) -> str:
    known = [one for one in list_notes(archive, TODO) if one.text.strip().casefold() == mark.text.casefold()]
    if known:
        return f"[RECORDED] already: {known[0].id} ({TODO}): {cut(harmless(known[0].text), _SHOWN)}"
    with archive.transaction():
        note = add_note(archive, session_number(archive, author.session_id or ""), TODO, mark.text, to_text(now))
        log_note(archive, ADDS, author.origin, author.session_id, note, to_text(now))
        archive.run("INSERT OR IGNORE INTO uncaptured VALUES (?)", mark.key)  # the transcript tells of it too
    return f"[RECORDED] {note.id} ({TODO}): {cut(harmless(note.text), _SHOWN)}{_UNDO}"


def decide(archive: Archive, verb: str, refs: Sequence[str], session_id: str | None, now: int) -> str:
    """Accept or reject proposals, and return a line about it, also where that is not possible."""
    author = Author(USER_SAID, session_id, is_typed=True)
    try:
        items = (accept if verb == ACCEPT else reject)(archive, refs, author, now)
    except UnifiedStateError as error:
        at_terminal = f"{error.message}; at a terminal: `unified-state inbox {verb} {' '.join(refs)}`"
        return harmless(f"[NOT {verb.upper()}ED] {at_terminal if isinstance(error, NotAtGateError) else error}")
    return f"[{verb.upper()}ED] {'; '.join(_told(item, item.kind) for item in items)}{_UNDO}"


def is_recorded(archive: Archive, mark: Mark, step: Step, session_id: str) -> bool:
    """Return whether an item says what a marked line of an archived prompt says. What the hook recorded of that prompt
    gets its source.
    """
    where = "WHERE capture_key = ? AND session_id = ? AND source_uuid IS NULL"
    for item in selected_items(archive, where, mark.key, session_id):
        update_item(archive, item.replace(source_uuid=step.uuid))
    return bool(_same_items(archive, mark))


def _same_items(archive: Archive, mark: Mark) -> list[LedgerItem]:
    """Return the items that hold or wait and say what a marked line says, word for word."""
    wanted = mark.text.casefold()
    items = list_items(archive, mark.kind, (ACTIVE, PROPOSED))
    return [item for item in items if main_text(item).strip().casefold() == wanted]


def _told(item: LedgerItem, what: str) -> str:
    return f"{item.alias} ({what}): {cut(harmless(main_text(item)), _SHOWN)}"

"""Decide which parts of an imported history count.

Invariant: an import creates no obligation. It neither enforces nor lifts a constraint, whatever a file says. The user's
word in another person's file is not this user's word.
"""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number
from unified_state.ledger.gate import is_in_force
from unified_state.ledger.item_table import ACTIVE, PROPOSED, selected_items
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.text import text_hash
from unified_state.lib.times import is_past
from unified_state.model.constraint import OBSERVED, USER_SAID
from unified_state.model.history_records import (
    HistoryRecord,
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)
from unified_state.model.item import CONSTRAINT, LedgerItem
from unified_state.model.step import NOTICE, PROMPT
from unified_state.secrets.masker import Masker

_ELSEWHERE = "elsewhere:"
_IMPORTED = "import:"  # how the capture key of another person's item begins


class Judge:
    """Decide for each record of an import which part of it counts."""

    def __init__(self, archive: Archive, now: int, *, is_own: bool, sets_apart: bool) -> None:
        self._archive, self._now = archive, now
        self._is_own, self._sets_apart = is_own, sets_apart
        self._kept: set[str] = set()

    def judged(self, record: HistoryRecord) -> HistoryRecord | None:
        """Return the record in the form for the store, or None if it is left out."""
        if isinstance(record, StoredItem):
            return self._item(record)
        if isinstance(record, Tombstone):  # only the user forgets, and a rule only at a terminal
            return record if self._is_own and not any(map(is_in_force, self._known(record.key))) else None
        if self._is_own:
            return record
        if isinstance(record, StoredLink):
            is_about_mine = not {record.from_uuid, record.to_uuid} <= self._kept
        elif isinstance(record, StoredCompaction):
            known = "SELECT 1 FROM compaction WHERE boundary_uuid = ?"
            is_about_mine = self._archive.row(known, record.boundary_uuid) is not None
        else:
            is_about_mine = self._comes_back(record.session_id)
        return None if is_about_mine else self._apart(_of_others(record, self._now))

    def _known(self, uuid: str) -> list[LedgerItem]:
        return selected_items(self._archive, "WHERE uuid = ?", uuid)

    def _comes_back(self, session_id: str) -> bool:
        """Return whether a session went from here to the store that the import comes from."""
        own = session_id.replace(_ELSEWHERE, "")
        return session_id.startswith(_ELSEWHERE) and session_number(self._archive, own) is not None

    def _item(self, item: StoredItem) -> HistoryRecord | None:
        """Return the item in the form for the store, or None.

        An import never changes a constraint of this archive, nor an item that was recorded or decided here. A new
        constraint is not enforced.
        """
        known = self._known(item.uuid)
        if known and known[0].kind == CONSTRAINT:
            return None
        if self._is_own:
            is_enforced = item.kind == CONSTRAINT and item.status == ACTIVE and item.body.get("mode")
            return item.replace(status=PROPOSED) if is_enforced else item
        if known and not (known[0].status == PROPOSED and (known[0].capture_key or "").startswith(_IMPORTED)):
            return None
        self._kept.add(item.uuid)
        return self._apart(_item_of_others(item))

    def _apart(self, record: HistoryRecord) -> HistoryRecord:
        """Return the record in a separate session, so that foreign turns never join a session of this machine."""
        if not self._sets_apart or isinstance(record, (StoredLink, Tombstone)) or record.session_id is None:
            return record
        record = record.replace(session_id=f"{_ELSEWHERE}{record.session_id}")
        if isinstance(record, StoredSession) and record.predecessor:
            return record.replace(predecessor=f"{_ELSEWHERE}{record.predecessor}")
        return record


def _of_others(record: HistoryRecord, now: int) -> HistoryRecord:
    """Return a session or a step of another person without local effects.

    Their worktrees are not on this machine, and their prompts are not this user's word. Their masked steps do not
    replace steps here.
    """
    if isinstance(record, StoredSession):
        return record.replace(worktree=None, seen_at=record.seen_at if is_past(record.seen_at, now) else None)
    if isinstance(record, StoredStep | StoredCompaction):
        record = record.replace(masked_at=None)
    if isinstance(record, StoredStep) and record.kind == PROMPT:
        return record.replace(kind=NOTICE)
    return record


def _item_of_others(item: StoredItem) -> StoredItem:
    """Return an item of another person as a proposal, if it was active there.

    Their `user_said` becomes `observed`. The capture key says that it was imported.
    """
    return item.replace(
        origin=OBSERVED if item.origin == USER_SAID else item.origin,
        status=PROPOSED if item.status == ACTIVE else item.status,
        paged_out_at=item.paged_out_at or item.created_at,
        capture_key=f"{_IMPORTED}{item.uuid}",
    )


def masked(record: HistoryRecord, masker: Masker) -> HistoryRecord:
    """Return the record with the secrets masked in all its fields. A quote and its hash change together."""
    fields = {name: _masked(value, masker) for name, value in record.as_dict().items() if name != "text"}
    if isinstance(record, StoredStep):
        fields["text"] = masker.step(record).text
    if isinstance(record, StoredItem) and fields["quote"] != record.quote:
        fields["quote_hash"] = text_hash(fields["quote"])
    return record.replace(**fields)


def _masked(value: Any, masker: Masker) -> Any:
    if isinstance(value, tuple):
        return tuple(_masked(part, masker) for part in value)
    if isinstance(value, dict) and value:
        text = dump_json(value)
        clean = masker.json(text)
        return value if clean is text else parse_json(clean)
    return masker.id(value) if isinstance(value, str) else value

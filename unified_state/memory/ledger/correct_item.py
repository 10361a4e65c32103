"""Corrections: an item gets other words, or becomes the user's word.

Nothing is overwritten: a new item takes the place of the older one, and both can be recalled. Invariant: what the user
said, every constraint, and every proposal stay as they are until the user accepts the proposal of the change.
"""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.memory.ledger.item_table import ACTIVE, PROPOSED, find_item
from unified_state.memory.ledger.record_item import changed_by, checked, record_item
from unified_state.model.constraint import INFERRED, USER_SAID
from unified_state.model.item import CONSTRAINT, MAIN_FIELDS, OTHER_FIELDS
from unified_state.model.scope import enforcement_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.ledger.record_item import Author
    from unified_state.memory.secrets.masker import Masker
    from unified_state.model.item import LedgerItem

_ENFORCEMENT = ("scope", "mode")


def edit(
    archive: Archive, ref: str, changes: dict[str, Any], author: Author, *, masker: Masker, now: int
) -> LedgerItem:
    """Return the item that has the changed fields. It supersedes the older one, or is proposed to do so."""
    older = _holding(archive, ref)
    body = _changed(older, changes)
    if body == older.body:
        return older
    if not _may_edit(older):
        return propose(archive, older, body, author, masker=masker, now=now)
    return record_item(archive, older.kind, body, author, masker=masker, now=now, supersedes=older.uuid)


def propose_accept(archive: Archive, ref: str, author: Author, *, masker: Masker, now: int) -> LedgerItem:
    """Return the proposal that makes an item the user's word: itself, or a copy that takes its place."""
    item = _holding(archive, ref)
    if item.status == PROPOSED or item.origin == USER_SAID:
        return item
    return propose(archive, item, item.body, author, masker=masker, now=now)


def propose(
    archive: Archive, older: LedgerItem, body: dict[str, Any], author: Author, *, masker: Masker, now: int
) -> LedgerItem:
    """Return the proposal of an item that supersedes another one, and what that would change, once the user accepts it.
    There is at most one.
    """
    body = {name: checked(name, value, masker) for name, value in body.items()}
    for (uuid,) in archive.rows(
        "SELECT from_uuid FROM item_link WHERE to_uuid = ? AND relation = 'changes'", older.uuid
    ):
        known = find_item(archive, uuid)
        if (known.status, known.kind, known.body) == (PROPOSED, older.kind, body):
            return known
    changed = [older.uuid, *(item.uuid for item in changed_by(archive, older))]
    return record_item(archive, older.kind, body, author, masker=masker, now=now, proposed_for=changed)


def _may_edit(item: LedgerItem) -> bool:
    """Return whether a program may edit an item: what a model recorded, if that is no rule and no proposal."""
    return item.status == ACTIVE and item.origin == INFERRED and item.kind != CONSTRAINT


def _holding(archive: Archive, ref: str) -> LedgerItem:
    item = find_item(archive, ref)
    if item.status not in (ACTIVE, PROPOSED):
        message = f"{item.alias} is {item.status}"
        raise UsageError(message, "only an item that holds, or is proposed, can be changed")
    return item


def _changed(item: LedgerItem, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the body with the changes. Raises UsageError for a field that the item does not have."""
    fields = [MAIN_FIELDS[item.kind], *OTHER_FIELDS[item.kind], *(_ENFORCEMENT if item.kind == CONSTRAINT else ())]
    wrong = [name for name in changes if name not in fields]
    if wrong or not changes:
        message = f"a {item.kind} has no {wrong[0]!r}" if wrong else f"there is nothing to change in {item.alias}"
        raise UsageError(message, f"it has {', '.join(fields)}")
    if not changes.keys() & set(_ENFORCEMENT):
        return {**item.body, **changes}
    wanted = {name: item.body.get(name) for name in _ENFORCEMENT} | changes
    if wanted["scope"] is None and "mode" not in changes:
        wanted["mode"] = None
    kept = {name: value for name, value in {**item.body, **changes}.items() if name not in _ENFORCEMENT}
    return kept | enforcement_of(wanted["scope"], wanted["mode"])

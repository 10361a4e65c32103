"""The inbox: what waits for the user's decision, where it came from, and what it would change."""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.ledger.correct_item import is_end_of
from unified_state.ledger.decide_proposal import changed_by
from unified_state.ledger.explain_item import place_of
from unified_state.ledger.item_table import PROPOSED, list_items
from unified_state.lib.record import Record
from unified_state.model.item import CONSTRAINT, LedgerItem


class Effect(Record):
    """What a proposal does to an item once it is accepted. `fields` are those that it changes: old and new value."""

    verb: str
    item: LedgerItem
    fields: dict[str, tuple[Any, Any]]


class Proposal(Record):
    """A proposal, the turn that it comes from, and its effects."""

    item: LedgerItem
    turn: str | None
    effects: tuple[Effect, ...]


def read_inbox(archive: Archive) -> list[Proposal]:
    """Return what waits, the oldest first."""
    return [_waiting(archive, item) for item in list_items(archive, None, (PROPOSED,))]


def _waiting(archive: Archive, item: LedgerItem) -> Proposal:
    turn, _ = place_of(archive, item)
    effects = tuple(_effect(item, older) for older in changed_by(archive, item))
    return Proposal(item, None if turn is None else f"T{turn}", effects)


def _effect(item: LedgerItem, older: LedgerItem) -> Effect:
    if is_end_of(item, older):
        return Effect("lifts" if older.kind == CONSTRAINT else "drops", older, {})
    if item.kind != older.kind:
        return Effect("replaces", older, {})
    names = [*older.body, *(name for name in item.body if name not in older.body)]
    changed = {name: (older.body.get(name), item.body.get(name)) for name in names}
    return Effect("changes", older, {name: pair for name, pair in changed.items() if pair[0] != pair[1]})

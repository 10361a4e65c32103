"""Relating: a new item is linked to those that say the same or the opposite. It is told, and nothing is merged."""

from __future__ import annotations

from unified_state.records.item import ALIAS_LETTERS, CONSTRAINT, DECISION, EVIDENCE
from unified_state.rules.likeness import CONTRADICTS, DUPLICATES, read_statement, statement_relation
from unified_state.rules.short_form import main_text
from unified_state.storage.ledger import ACTIVE, PROPOSED, link_items, list_items
from unified_state.storage.provenance import links_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.item import LedgerItem
    from unified_state.rules.likeness import Statement
    from unified_state.storage.archive import Archive
    from unified_state.storage.provenance import Link

_MOST = 300  # of the newest items are looked at
_HINTS = (DUPLICATES, CONTRADICTS)
_RULES = {DECISION, CONSTRAINT}  # a decision may contradict a constraint


def relate(archive: Archive, item: LedgerItem) -> None:
    """Link an item with those that it repeats or contradicts. Call it in the item's transaction."""
    kinds = _RULES if item.kind in _RULES else {item.kind}
    others = [other for other in list_items(archive, statuses=[ACTIVE, PROPOSED]) if other.kind in kinds]
    statement = read_statement(main_text(item))
    for other in others[-_MOST:]:
        relation = None if other.uuid == item.uuid else _relation(item, statement, other)
        if relation is not None:
            link_items(archive, item, relation, other, item.created_at)


def hints(archive: Archive, item: LedgerItem) -> list[str]:
    """What a person or an agent is told of it, a line each."""
    return [_hint(item.alias, link) for link in links_of(archive, item) if link.is_from and link.relation in _HINTS]


def _hint(ref: str, link: Link) -> str:
    if link.relation == DUPLICATES:
        return f"{ref} repeats {link.ref}; both are kept"
    if ref[0] == link.ref[0] == ALIAS_LETTERS[DECISION]:
        return f"{ref} may contradict {link.ref}: `unified-state decision supersede {link.ref} --by {ref}` settles it"
    return f"{ref} may contradict {link.ref}: `unified-state why {link.ref}` shows where that comes from"


def _relation(item: LedgerItem, statement: Statement, other: LedgerItem) -> str | None:
    if EVIDENCE in {item.kind, other.kind}:  # errors are much alike, and each is worth its line
        return DUPLICATES if main_text(item) == main_text(other) else None
    relation = statement_relation(statement, read_statement(main_text(other)))
    if relation == DUPLICATES:
        return relation if item.kind == other.kind else None
    return relation if item.kind in _RULES else None

"""Relations: a new item is linked to those that say the same or the opposite. Nothing is merged."""

from __future__ import annotations

from unified_state.memory.ledger.item_table import ACTIVE, find_item, link_items
from unified_state.memory.ledger.rules.contradictions import CONTRADICTS, DUPLICATES, read_statement, statement_relation
from unified_state.memory.ledger.rules.short_item import main_text
from unified_state.memory.ledger.source_table import links_of, texts_with_a_word
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, DECISION, EVIDENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.ledger.rules.contradictions import Statement
    from unified_state.memory.ledger.source_table import Link
    from unified_state.model.item import LedgerItem

_MOST = 300  # newest items that are compared
_HINTS = (DUPLICATES, CONTRADICTS)
_RULES = (DECISION, CONSTRAINT)  # a decision may contradict a constraint


def relate(archive: Archive, item: LedgerItem) -> None:
    """Link an item to those that it repeats or contradicts. Call it in the item's transaction."""
    said, kinds = main_text(item), _RULES if item.kind in _RULES else (item.kind,)
    statement = read_statement(said)
    for uuid, kind, other in texts_with_a_word(archive, kinds, statement.content, _MOST):
        if uuid != item.uuid and (relation := _relation(item.kind, said, statement, kind, other)):
            link_items(archive, item, relation, find_item(archive, uuid), item.created_at)


def is_stated(archive: Archive, kind: str, said: str) -> bool:
    """Return whether an active item of the kind says the same."""
    statement = read_statement(said)
    return any(
        find_item(archive, uuid).status == ACTIVE
        for uuid, _, other in texts_with_a_word(archive, (kind,), statement.content, _MOST)
        if statement_relation(statement, read_statement(other)) == DUPLICATES
    )


def hints(archive: Archive, item: LedgerItem) -> list[str]:
    """Return a line for each earlier item that the item repeats or contradicts."""
    return [_hint(item.alias, link) for link in links_of(archive, item) if link.is_from and link.relation in _HINTS]


def _hint(ref: str, link: Link) -> str:
    if link.relation == DUPLICATES:
        return f"{ref} repeats {link.ref}; both are kept"
    if ref[0] == link.ref[0] == ALIAS_LETTERS[DECISION]:
        return f"{ref} may contradict {link.ref}: `unified-state decision supersede {link.ref} --by {ref}` settles it"
    return f"{ref} may contradict {link.ref}: `unified-state show {link.ref} --source` shows where that comes from"


def _relation(kind: str, said: str, statement: Statement, other_kind: str, other: str) -> str | None:
    if kind == EVIDENCE:  # errors are similar to each other, and each is worth its line
        return DUPLICATES if said == other else None
    relation = statement_relation(statement, read_statement(other))
    if relation == DUPLICATES:
        return relation if kind == other_kind else None
    return relation if kind in _RULES else None

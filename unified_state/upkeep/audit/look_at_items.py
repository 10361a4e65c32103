"""Items that repeat or contradict each other, and items that nobody recalled."""

from __future__ import annotations

from unified_state.lib.times import age_text, to_milliseconds
from unified_state.memory.archive.steps import was_accessed
from unified_state.memory.ledger.item_table import ACTIVE, contradictions
from unified_state.memory.ledger.rules.contradictions import CONTRADICTS
from unified_state.memory.ledger.rules.short_item import is_captured, main_text
from unified_state.memory.ledger.source_table import entry_steps
from unified_state.model.item import ATTEMPT, CONSTRAINT, DECISION, EVIDENCE
from unified_state.upkeep.audit.rules.alike import SAME, alike
from unified_state.upkeep.audit.rules.mend import (
    CONTRADICTION,
    DUPLICATE,
    NEVER_RECALLED,
    Finding,
    end_command,
    second_of,
    settle_command,
    shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import LedgerItem

_RULES = (DECISION, CONSTRAINT)
_UNUSED_AFTER = 30 * 86_400_000  # milliseconds


def related(archive: Archive, items: Sequence[LedgerItem]) -> Iterator[Finding]:
    """Yield the items that repeat or contradict another one: by the links of the ledger, and by their words.

    Evidence and captured attempts repeat each other only in the very same words. Of proposals only repetitions count:
    the user has still to decide on them.
    """
    linked = contradictions(archive)
    by_ref = {item.alias: item for item in items}
    pairs = {frozenset((item.alias, ref)) for item in items for ref in linked.get(item.uuid, ()) if ref in by_ref}
    for one, other, is_opposite in _pairs(items):
        if is_opposite:
            pairs.add(frozenset((one.alias, other.alias)))
        else:
            kept, left = second_of(one, other)
            yield Finding(DUPLICATE, left.alias, f"says the same as {shown(kept)}", end_command(left))
    for first, second in sorted(sorted(pair) for pair in pairs):
        command = settle_command(by_ref[first], by_ref[second])
        yield Finding(CONTRADICTION, first, f"contradicts {shown(by_ref[second])}", command)


def _pairs(items: Sequence[LedgerItem]) -> Iterator[tuple[LedgerItem, LedgerItem, bool]]:
    """Yield two items and whether they contradict each other; if not, they say the same."""
    for _, group in sorted(_groups(items).items()):
        texts = [main_text(item) for item in group]
        for first, second, relation in alike(texts):
            one, other = group[first], group[second]
            is_opposite = relation == CONTRADICTS
            if is_opposite:
                counts = one.kind in _RULES and one.status == other.status == ACTIVE
            else:
                counts = one.kind == other.kind and (relation == SAME or not _is_verbatim(one))
            if counts and not _replaces(one, other):
                yield one, other, is_opposite


def _groups(items: Sequence[LedgerItem]) -> dict[str, list[LedgerItem]]:
    """Return the items by what they are compared with: rules with each other, all others within their kind."""
    groups: dict[str, list[LedgerItem]] = {}
    for item in items:
        beside = [
            str(item.body.get(name)) for name in ("type", "source", "outcome") if item.kind in (EVIDENCE, ATTEMPT)
        ]
        kind = " ".join([item.kind, *beside])
        groups.setdefault("rule" if item.kind in _RULES else kind, []).append(item)
    return groups


def _is_verbatim(item: LedgerItem) -> bool:
    return item.kind == EVIDENCE or is_captured(item)


def _replaces(one: LedgerItem, other: LedgerItem) -> bool:
    """Return whether one of two items is recorded as the successor of the other."""
    return one.superseded_by == other.uuid or other.superseded_by == one.uuid


def without_use(archive: Archive, items: Sequence[LedgerItem], now: int) -> Iterator[Finding]:
    """Yield the recorded items that left the state file a month ago or more, and that nobody looked up.

    Looking up an item counts as an access to the passage that it comes from. Of an item without one it is not known.
    """
    for item in items:
        since = to_milliseconds(item.paged_out_at or "")
        is_judged = item.status == ACTIVE and item.source_uuid is not None and not is_captured(item)
        if not is_judged or since is None or now - since < _UNUSED_AFTER or item.kind == CONSTRAINT:
            continue
        steps = entry_steps(archive, item.source_uuid or "")
        if steps and not was_accessed(archive, steps):
            why = f"left the state file {age_text(now - since)}, and nobody looked it up"
            yield Finding(NEVER_RECALLED, item.alias, why, end_command(item))

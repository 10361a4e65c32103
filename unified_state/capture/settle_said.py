"""What becomes of rules that were only said: a later sentence of the user replaces one, or takes it back.

Only proposals change here. A rule that the user confirmed ends at the gate alone.
"""

from __future__ import annotations

from unified_state.capture.rules.taken_back import taken_back, takes_back
from unified_state.capture.rules.user_rules import own_sentences
from unified_state.lib.times import to_text
from unified_state.memory.ledger.item_table import DISMISSED, SUPERSEDED, said_items, selected_items, update_item
from unified_state.memory.ledger.rules.contradictions import CONTRADICTS, DUPLICATES
from unified_state.memory.ledger.rules.short_item import main_text
from unified_state.model.item import CORRECTION, SAID_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.item import Fact, LedgerItem
    from unified_state.model.step import Step


def is_captured(archive: Archive, fact: Fact, step: Step) -> bool:
    """Return whether a sentence of a prompt was captured before, under whatever rule, or was forgotten."""
    rules = (*SAID_RULES, CORRECTION)
    where = f"WHERE rule IN ({', '.join('?' * len(rules))}) AND source_uuid = ?"
    return any(item.quote == fact.quote for item in selected_items(archive, where, *rules, step.uuid))


def was_forgotten(archive: Archive, step: Step) -> bool:
    """Return whether the user forgot something that was captured from a step."""
    return archive.row("SELECT 1 FROM uncaptured WHERE capture_key LIKE ?", f"%:{step.uuid}:%") is not None


def replace_earlier(archive: Archive, item: LedgerItem) -> None:
    """Let a new sentence supersede the earlier ones that say the same or the opposite."""
    rows = archive.rows(
        "SELECT to_uuid FROM item_link WHERE from_uuid = ? AND relation IN (?, ?)", item.uuid, DUPLICATES, CONTRADICTS
    )
    linked = {uuid for (uuid,) in rows}
    for earlier in said_items(archive):
        if earlier.uuid in linked and earlier.created_at <= item.created_at:
            change = {"status": SUPERSEDED, "superseded_by": item.uuid, "changed_at": item.created_at}
            update_item(archive, earlier.replace(**change))


def take_back(archive: Archive, step: Step) -> None:
    """Dismiss the rules that a prompt takes back, of those that were said before it."""
    at = to_text(step.at)
    for sentence in filter(takes_back, own_sentences(step.text)):
        earlier = [item for item in said_items(archive) if item.created_at < at]
        found = taken_back(sentence, [main_text(item) for item in earlier])
        if found is not None:
            body = {**earlier[found].body, "resolution": f"taken back by the user: {sentence}", "resolvedAt": at}
            update_item(archive, earlier[found].replace(status=DISMISSED, body=body, changed_at=at))

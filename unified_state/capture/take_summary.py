"""Process a summary: find what it kept of the state, and record the items that its block reports as new.

A summary can arrive three times: from two hooks and from the transcript. Repeated arrivals change nothing. A model
wrote the block. So its decisions and questions are *inferred*, and its constraints only *proposed*. A block never
supersedes, resolves or closes an item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Compaction
from unified_state.archive.session_work import read_work, replace_next_steps
from unified_state.capture.rules.presence import claim_of, judge
from unified_state.capture.rules.summary_block import NEXT, BlockLine, alias_in_front, read_block
from unified_state.capture.survival_table import keep_survival
from unified_state.ledger.item_table import (
    ACTIVE,
    DISMISSED,
    PROPOSED,
    insert_item,
    next_alias,
    stated_items,
    update_item,
)
from unified_state.ledger.record_item import Author, unnamed_item
from unified_state.ledger.rules.same_words import repeats
from unified_state.lib.times import to_text
from unified_state.model.constraint import INFERRED
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION, STATUSES, LedgerItem

RULE = "summary"


def take_in(archive: Archive, compaction: Compaction, summary: str, now: int) -> int:
    """Judge a summary, record what its block reports, and return the number of new items.

    Call it in the transaction that writes the summary.
    """
    items = stated_items(archive, STATUSES)
    before = [item for item in items if item.status == ACTIVE and item.compaction != compaction.id]
    keep_survival(archive, compaction.id, judge(before, summary))
    return _record(archive, compaction, items, read_block(summary), now)


def _record(
    archive: Archive, compaction: Compaction, items: list[LedgerItem], reported: Sequence[BlockLine], now: int
) -> int:
    """Record the new items.

    Dismiss items that only an earlier summary of the same compaction reported, because the model never read that
    summary.
    """
    keys = {_key(compaction, line) for line in reported}
    own = {item.capture_key: item for item in items if item.rule == RULE and item.compaction == compaction.id}
    for key, item in own.items():
        if key not in keys and item.status != DISMISSED:
            update_item(archive, item.replace(status=DISMISSED, changed_at=to_text(now)))
    known = [item for item in items if item.capture_key not in own]
    added = 0
    for line in reported:
        if line.kind != NEXT and _key(compaction, line) not in own and not _is_known(line.text, known):
            known.append(_insert(archive, compaction, line, now))
            added += 1
    steps = [line.text for line in reported if line.kind == NEXT]
    replace_next_steps(archive, compaction.session, compaction.id, steps, to_text(now))
    return added


def _is_known(text: str, items: list[LedgerItem]) -> bool:
    """Return whether a reported text names an item in any status by its ref, or repeats one."""
    alias = alias_in_front(text)
    return any(item.alias == alias or repeats(text, claim_of(item)) for item in items)


def _key(compaction: Compaction, line: BlockLine) -> str:
    return f"{RULE} K{compaction.id} {line.kind} {line.text.casefold()}"


def _insert(archive: Archive, compaction: Compaction, line: BlockLine, now: int) -> LedgerItem:
    from unified_state.project.file_versions import file_versions  # only if a summary reports something

    session_id, worktree = archive.row("SELECT session_id, worktree FROM session WHERE id = ?", compaction.session)
    work, key = read_work(archive, compaction.session), _key(compaction, line)
    author = Author(
        INFERRED, session_id, quote=line.text, commit=work.get("commit"), branch=work.get("branch"), capture_key=key
    )
    item = unnamed_item(line.kind, _body(line, compaction), author, now).replace(
        alias=next_alias(archive, line.kind),
        status=PROPOSED if line.kind == CONSTRAINT else ACTIVE,
        rule=RULE,
        compaction=compaction.id,
    )
    item = item.replace(file_hashes=file_versions(worktree, item.files) if worktree else {})
    insert_item(archive, item)
    return item


def _body(line: BlockLine, compaction: Compaction) -> dict[str, Any]:
    """Return the fields of the kind. For a decision the line may give a reason: `decision: Use SQLite. Why: one
    file`.
    """
    source = f"the summary of K{compaction.id}"
    match line.kind:
        case kind if kind == DECISION:
            text, _, why = line.text.partition(" Why: ")
            return {"decision": text.strip(), "rationale": why.strip(), "reversible": True}
        case kind if kind == QUESTION:
            return {"question": line.text, "context": source, "priority": "medium"}
    return {"constraint": line.text, "source": source, "blocking": False}

"""What counts of a history that comes from elsewhere.

Invariant: an import binds nobody. Whatever a file says, no constraint is enforced by it and none is lifted; and what
somebody else's file calls the user's word is not this user's.
"""

from __future__ import annotations

from unified_state.interpreter import dump_json, parse_json
from unified_state.records.history import StoredItem, StoredSession, StoredStep, Tombstone
from unified_state.records.item import CONSTRAINT, DECISION
from unified_state.records.origin import OBSERVED, USER_SAID
from unified_state.records.record import disk_value
from unified_state.records.step import NOTICE, PROMPT, TOOL_CALL
from unified_state.rules.privacy import hide_private
from unified_state.rules.quoting import text_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from unified_state.records.history import HistoryRecord
    from unified_state.services.masking import Masker

_ACTIVE, _PROPOSED = "active", "proposed"
_BINDING = (DECISION, CONSTRAINT)


def trusted(record: HistoryRecord, known_constraints: Container[str]) -> HistoryRecord | None:
    """A record of the user's own history; None for one that is left out. `known_constraints` are the UUIDs of those
    that are here: what became of them is decided here.
    """
    if not isinstance(record, StoredItem) or record.kind != CONSTRAINT:
        return record
    if record.uuid in known_constraints:
        return None
    is_enforced = record.status == _ACTIVE and record.body.get("mode")
    return record.replace(status=_PROPOSED) if is_enforced else record


def untrusted(record: HistoryRecord, known_constraints: Container[str], now: int) -> HistoryRecord | None:
    """A record of somebody else's history; None for one that is left out. What the user said there is what was
    observed here, and `unknown` keeps what it was.
    """
    if isinstance(record, Tombstone):
        return None  # only the user forgets
    if isinstance(record, StoredSession):
        return record.replace(
            worktree=None,
            seen_at=None if record.seen_at is None else min(record.seen_at, now),
            unknown=_kept(record.unknown, worktreeElsewhere=record.worktree),
        )
    if isinstance(record, StoredStep) and record.kind == PROMPT:
        return record.replace(kind=NOTICE, unknown=_kept(record.unknown, kindElsewhere=PROMPT))
    if not isinstance(record, StoredItem):
        return record
    known = trusted(record, known_constraints)
    if not isinstance(known, StoredItem):
        return known
    status = _PROPOSED if known.status == _ACTIVE and known.kind in _BINDING else known.status
    if known.origin == USER_SAID:
        known = known.replace(origin=OBSERVED, unknown=_kept(known.unknown, originElsewhere=USER_SAID))
    return known.replace(status=status, paged_out_at=known.paged_out_at or known.created_at)


def masked(record: HistoryRecord, masker: Masker) -> HistoryRecord:
    """The record with its secrets masked. A quote and its hash change together."""
    changed = {
        name: value
        for name, present in record.as_dict().items()
        if (value := _masked(name, present, record, masker)) is not present
    }
    if "quote" in changed and isinstance(record, StoredItem):
        changed["quote_hash"] = text_hash(changed["quote"])
    return record.replace(**changed) if changed else record


_TEXTS = ("text", "summary", "quote")


def _masked(name: str, value: Any, record: HistoryRecord, masker: Masker) -> Any:
    if isinstance(value, dict) and value:
        text = dump_json(disk_value(value))
        clean = masker.json(text)
        return value if clean is text else parse_json(clean)
    if not isinstance(value, str) or name not in _TEXTS:
        return value
    if isinstance(record, StoredStep) and record.kind == TOOL_CALL:
        return masker.json(value) if value[:1] in {"{", "["} and _is_json(value) else masker.text(value)
    if isinstance(record, StoredStep) and record.kind in {PROMPT, NOTICE}:
        value = hide_private(value)
    return masker.text(value)


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except (ValueError, RecursionError):
        return False
    return True


def _kept(unknown: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**unknown, **{name: value for name, value in fields.items() if value is not None}}

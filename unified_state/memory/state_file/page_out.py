"""Paging out: when the state file exceeds its budget, items leave it. They stay in the ledger, where `recall` finds
them.

Blocking constraints, irreversible decisions, high-priority open questions and the newest errors always stay. Superseded
decisions and resolved questions leave first. Among the others the more important and the newer items stay longer.

An exact token count is slow (tiktoken has to load), so each count is stored with its item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from unified_state.lib.times import to_text
from unified_state.memory.archive.archive import Archive
from unified_state.memory.ledger.item_table import note_place
from unified_state.memory.ledger.rules.short_item import entry_text, oldest_first
from unified_state.memory.state_file.state_file import SCALE, token_scale
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.settings import Settings

Counter = Callable[[Sequence[str]], list[int]]

_SCALED_AT = "token_scale_at"
NEWEST_ERRORS = 3
_LEAVES_FIRST, _WAITS, _MINOR, _USUAL, _MUST_STAY = range(5)


def page_out(
    archive: Archive, items: list[LedgerItem], settings: Settings, count_tokens: Counter, now: int
) -> list[LedgerItem]:
    """Return the items that stay in the file, and mark the others in the ledger as paged out."""
    scale = token_scale(archive)
    items = _counted(archive, items, count_tokens)
    sizes = {item.uuid: round((item.estimate or 0) * scale) for item in items}
    target = max(settings.budget_target, settings.budget_min)
    gone = leaving(oldest_first(items, now), sizes, sum(sizes.values()), target, settings.budget_max)
    with archive.transaction():
        for item in gone:
            note_place(archive, item.replace(paged_out_at=to_text(now)))
    left = {item.uuid for item in gone}
    return [item for item in items if item.uuid not in left]


def _counted(archive: Archive, items: list[LedgerItem], count_tokens: Counter) -> list[LedgerItem]:
    unknown = [item for item in items if item.estimate is None]
    counts = count_tokens([entry_text(item) for item in unknown])
    sized = {item.uuid: item.replace(estimate=count) for item, count in zip(unknown, counts, strict=True)}
    with archive.transaction():
        for item in sized.values():
            note_place(archive, item)
    return [sized.get(item.uuid, item) for item in items]


def leaving(
    items: Sequence[LedgerItem], sizes: Mapping[str, int], total: int, target: int, most: int
) -> list[LedgerItem]:
    """Return the items that leave a file of `total` tokens: none up to `most`, else enough to reach `target`.

    `sizes` are tokens by UUID. The items are sorted by age, the oldest first.
    """
    if total <= most:
        return []
    newest_errors = [item.uuid for item in items if _is_open_error(item)][-NEWEST_ERRORS:]
    leave = []
    for item in sorted(items, key=lambda item: _importance(item, newest_errors)):  # stable sort: older ones first
        if total <= target or _importance(item, newest_errors) == _MUST_STAY:
            break
        leave.append(item)
        total -= sizes[item.uuid]
    return leave


def _importance(item: LedgerItem, newest_errors: Sequence[str]) -> int:
    if item.status in {"superseded", "resolved", "dismissed"}:
        return _LEAVES_FIRST
    if item.status == "proposed":
        return _WAITS
    body = item.body
    must_stay = (
        (item.kind == CONSTRAINT and body.get("blocking"))
        or (item.kind == DECISION and not body.get("reversible", True))
        or (item.kind == QUESTION and body.get("priority") == "high")
        or item.uuid in newest_errors
    )
    if must_stay:
        return _MUST_STAY
    minor = (item.kind == QUESTION and body.get("priority") == "low") or (
        item.kind == EVIDENCE and body.get("type") != "error"
    )
    return _MINOR if minor else _USUAL


def _is_open_error(item: LedgerItem) -> bool:
    return item.kind == EVIDENCE and item.body.get("type") == "error" and item.status == "active"


def calibrated_at(archive: Archive) -> int | None:
    """Return when the factor was measured, in milliseconds since 1970."""
    at = archive.meta(_SCALED_AT)
    return int(at) if at else None


def keep_calibration(archive: Archive, scale: float, now: int) -> None:
    """Store a measured factor."""
    with archive.transaction():
        archive.set_meta(SCALE, f"{scale:.3f}")
        archive.set_meta(_SCALED_AT, str(now))

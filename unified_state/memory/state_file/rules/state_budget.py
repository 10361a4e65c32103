"""The token budget of the state file: what stays, what leaves first.

Order of staying, from design: blocking constraints, irreversible decisions, high-priority open questions and the newest
errors always stay; superseded decisions and resolved questions leave first; between them the more important and the
newer stay longer. What leaves the file stays in the ledger.
"""

from __future__ import annotations

from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from unified_state.model.item import LedgerItem

NEWEST_ERRORS = 3
_LEAVES_FIRST, _WAITS, _MINOR, _USUAL, _MUST_STAY = range(5)


def leaving(
    items: Sequence[LedgerItem], sizes: Mapping[str, int], total: int, target: int, most: int
) -> list[LedgerItem]:
    """The items that leave a file of `total` tokens: none up to `most`, else as many as bring it down to `target`.

    `sizes` are tokens by UUID. The items come in the order of their age, the oldest first.
    """
    if total <= most:
        return []
    newest_errors = [item.uuid for item in items if _is_open_error(item)][-NEWEST_ERRORS:]
    leave = []
    for item in sorted(items, key=lambda item: _importance(item, newest_errors)):  # stable: older ones first
        if total <= target or _importance(item, newest_errors) == _MUST_STAY:
            break
        leave.append(item)
        total -= sizes[item.uuid]
    return leave


def budget_status(tokens: int, target: int, most: int) -> Literal["healthy", "warning", "over_budget"]:
    """`healthy` up to the target, `warning` up to the maximum, `over_budget` above."""
    return "healthy" if tokens <= target else "warning" if tokens <= most else "over_budget"


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

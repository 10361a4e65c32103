"""How survival is told: one line for the user, a table over time, and the items of a brief that were told in full."""

from __future__ import annotations

from unified_state.model.survival_verdicts import BARE, DISTORTED, KEPT, MISSING, STALE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.model.known import Known
    from unified_state.model.survival_verdicts import Survival

_MOST_REFS = 12  # in the line for the user
_MOST_UNTOLD = 400  # about as many tokens


def survival_line(survival: Survival, restored: Sequence[str]) -> str:
    """`summary kept 9 of 14 items; restored D3, C1, Q2; distorted C4`; empty where there was nothing to keep."""
    total = len(survival.refs(KEPT, BARE, MISSING, DISTORTED))
    if not total:
        return ""
    parts = [f"summary kept {len(survival.refs(KEPT, BARE))} of {total} items"]
    for what, refs in (
        ("restored", [ref for ref in restored if ref not in survival.refs(KEPT)]),
        ("distorted", survival.refs(DISTORTED)),
        ("superseded but told as current", survival.refs(STALE)),
    ):
        if refs:
            parts.append(f"{what} {_listed(refs)}")
    return "; ".join(parts)


def told_refs(lines: Iterable[str], refs: Iterable[str]) -> tuple[str, ...]:
    """Those of the refs whose items are told in full: a line begins with them."""
    first = {line.split(None, 1)[0] for line in lines if line.startswith("  ") and line.strip()}
    return tuple(ref for ref in refs if ref in first)


def kept_refs(known: Known) -> set[str]:
    """The items that the client's summary says as they are recorded, those that it reported itself among them."""
    if known.survival is None:
        return set()
    reported = {item.alias for item in known.items if item.compaction == known.compaction}
    return {*known.survival.refs(KEPT), *reported}


def refs_to_tell(known: Known) -> list[str]:
    """The items that a restore after a compaction has to name, in full or by their refs; the newest first."""
    if known.reason not in {"compact", "prompt"}:
        return []
    kept = kept_refs(known)
    refs = [*(item.alias for item in reversed(known.items)), *reversed(known.paged_out)]
    return [ref for ref in refs if ref not in kept]


def untold_line(refs: Sequence[str]) -> str:
    """The line that names the items for which there is no room; how many more there are, where they are too many."""
    more = len(refs) - _MOST_UNTOLD
    return f"[ALSO RECORDED] {' '.join(refs[:_MOST_UNTOLD])}" + (f" and {more:,} more" if more > 0 else "")


def _listed(refs: Sequence[str]) -> str:
    more = len(refs) - _MOST_REFS
    return ", ".join(refs[:_MOST_REFS]) + (f" and {more} more" if more > 0 else "")

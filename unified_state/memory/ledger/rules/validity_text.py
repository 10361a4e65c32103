"""How an item's validity is told: nothing where it simply holds, else a few words behind it; one line where the ledger
is ahead of the work.
"""

from __future__ import annotations

from unified_state.memory.ledger.rules.item_lines import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.model.item import LedgerItem, Validity
    from unified_state.model.known import Known

_MOST_NAMES, _MOST_REFS = 4, 12


def validity_text(validity: Validity) -> str:
    """What is to be said of an item; empty where it is valid."""
    parts = [
        f"superseded by {validity.superseded_by}" if validity.superseded_by else "",
        f"files changed since: {_names(validity.changed)}" if validity.changed else "",
        f"files gone: {_names(validity.gone)}" if validity.gone else "",
        f"on another branch: {validity.branch}" if validity.branch else "",
        "at a commit that HEAD is behind now" if validity.behind else "",
        "in a part of the conversation that was rewound" if validity.rewound else "",
        f"contradicts {_names(validity.contradicts)}" if validity.contradicts else "",
    ]
    return harmless("; ".join(filter(None, parts)))


def with_validity(line: str, item: LedgerItem, known: Known) -> str:
    """The line of an item, with what is to be said of its validity."""
    validity = known.validities.get(item.uuid)
    text = validity_text(validity) if validity else ""
    return f"{line} [{text}]" if text else line


def ahead_lines(known: Known) -> Iterator[str]:
    """The line that says which items know more than the conversation or the worktree."""
    if known.ahead:
        names = _names(known.ahead, _MOST_REFS)
        verb = "was" if len(known.ahead) == 1 else "were"
        yield f"[AHEAD] {names} {verb} recorded before the conversation or HEAD went back: that work may be undone."


def went_behind(visited: Sequence[str], head: str, commit: str) -> bool:
    """Whether HEAD, which `visited` these commits in this order, was at `head` before it ever was at `commit`, and has
    come back.
    """
    if head == commit or commit not in visited or head not in visited:
        return False
    return visited.index(head) < visited.index(commit)


def _names(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

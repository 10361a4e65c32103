"""Whose word counts for what: only the user's own words bind, and only the user decides what is proposed."""

from __future__ import annotations

from unified_state.model.constraint import ASK, MODES, USER_SAID
from unified_state.model.item import CONSTRAINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.model.item import LedgerItem


def is_binding(item: LedgerItem) -> bool:
    """Whether an item is a blocking constraint that binds: one that the user gave in their own words."""
    return item.kind == CONSTRAINT and bool(item.body.get("blocking")) and item.origin == USER_SAID


def enforced_mode(item: LedgerItem) -> str:
    """What is done about a call that a constraint is about: what was meant, but only the user's own word denies."""
    mode: str = item.body["mode"]
    return mode if item.origin == USER_SAID else min(mode, ASK, key=MODES.index)


def unenforced(item: LedgerItem) -> LedgerItem:
    """The item as it is where no hook stops a tool call: a constraint is then its words alone."""
    if "scope" not in item.body:
        return item
    return item.replace(body={name: value for name, value in item.body.items() if name not in ("scope", "mode")})


def may_decide(origin: str) -> bool:
    """Whether somebody may accept or dismiss what is proposed: the user in their own terminal."""
    return origin == USER_SAID

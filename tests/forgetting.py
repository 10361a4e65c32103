"""Forgets in an open archive, as the user does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unified_state.model.constraint import USER_SAID
from unified_state.upkeep.forget.forget_refs import Wanted, forget_wanted

if TYPE_CHECKING:
    from unified_state.archive.archive import Archive
    from unified_state.upkeep.forget.found import Found


def forget_ref(archive: Archive, ref: str) -> None:
    """Forget one item, turn, step or compaction."""
    forget_wanted(archive, Wanted(ref), 0, USER_SAID)


def forget_session(archive: Archive, session_id: str, now: int) -> None:
    """Forget a session up to now."""
    forget_wanted(archive, Wanted(session_id=session_id), now, USER_SAID)


def forget_text(archive: Archive, text: str, now: int) -> Found:
    """Forget everything that contains a text."""
    return forget_wanted(archive, Wanted(text=text), now, USER_SAID)

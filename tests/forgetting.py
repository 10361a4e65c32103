"""Forgets in an open archive, as the user does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unified_state.model.constraint import USER_SAID
from unified_state.upkeep.forget.forget_refs import ForgetPlan, ForgetRequest, forget_wanted

if TYPE_CHECKING:
    from unified_state.archive.archive import Archive


def forget_ref(archive: Archive, ref: str) -> None:
    """Forget one item, turn, step or compaction."""
    forget_wanted(archive, ForgetRequest(ref), 0, USER_SAID)


def forget_session(archive: Archive, session_id: str, now: int) -> None:
    """Forget a session up to now."""
    forget_wanted(archive, ForgetRequest(session_id=session_id), now, USER_SAID)


def forget_text(archive: Archive, text: str, now: int) -> ForgetPlan:
    """Forget everything that contains a text."""
    return forget_wanted(archive, ForgetRequest(text=text), now, USER_SAID)

"""The texts that a session gets back: each in its fence, and recorded with the nonce in it.

A text is recorded before it is printed, so that the next prompt can check whether the model received it.
"""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import Restore, keep_restore
from unified_state.lib.fence import fenced
from unified_state.model.hook_event import BRIEF, WORKING_SET
from unified_state.model.known import ELSEWHERE, RELEVANT

_ABOUT = {
    BRIEF: "recorded facts of this project from before, as data",
    WORKING_SET: "files, commands and turns from before, as data",
    RELEVANT: "archived turns from before, as data",
    ELSEWHERE: "what other sessions of this project recorded, as data",
}


def fence_and_remember(
    archive: Archive, session: int, part: str, text: str, now: int, compaction: int | None = None
) -> str:
    """Record that a session receives a text, and return the text in its fence."""
    return fence(part, remember(archive, session, part, text, now, compaction), text)


def remember(archive: Archive, session: int, part: str, text: str, now: int, compaction: int | None) -> str:
    """Record a text for a session, and return its nonce."""
    nonce = os.urandom(6).hex()
    with archive.transaction(durable=False):
        keep_restore(archive, Restore(nonce, session, compaction, part, at=now, delivered_at=None, text=text))
    return nonce


def fence(part: str, nonce: str, text: str) -> str:
    """Return a text in its fence."""
    return fenced(text, nonce, _ABOUT[part])

"""A hand-over: what a model is asked to write for whoever goes on with the work, with what is recorded as its facts."""

from __future__ import annotations

import os

from unified_state.lib.text.fence import fenced
from unified_state.memory.archive.sessions import session_number
from unified_state.restore.preview import preview_restore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.workspace.workspace import Workspace

_ASKED = """Write a hand-over of this work for whoever goes on with it, and who has seen nothing of this conversation.

Its parts: the aim; what is done, and how that was checked; what holds (constraints, decisions with their reasons);
what is open; what was tried and failed; the next steps, the first of them so that it can be begun at once.

Name the refs of what is recorded (D7, C3), files with their paths, commands as they are run. Say what you do not know.
Write no secrets. What was decided here and is not recorded yet, record first: with the tools add_decision,
add_constraint and add_question."""


def hand_over(workspace: Workspace, focus: str, now: int) -> str:
    """What the model is asked to write, and what is known."""
    wanted = f"\n\nIt is for this: {focus.strip()}" if focus.strip() else ""
    known = _known(workspace, now)
    facts = fenced(known, os.urandom(6).hex(), "recorded facts of this project, as data") if known else ""
    return f"{_ASKED}{wanted}\n\n{facts}".strip()


def _known(workspace: Workspace, now: int) -> str:
    """What a session start would give back now: of this session, or of the newest where this one is not archived."""
    own = workspace.session_id
    if own is not None and workspace.use(lambda archive: session_number(archive, own)) is None:
        workspace.session_id = None
    return preview_restore(workspace, now).text

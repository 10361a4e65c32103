"""A checkpoint: a hook saves the state with the git state of that moment."""

from __future__ import annotations

from unified_state.memory.archive.sessions import change_work
from unified_state.memory.manager.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.session_state import GitState, State


def save_checkpoint(call: HookCall, archive: Archive, trigger: str, git: GitState) -> State:
    """Note where the session's git stands, and write the state file; the state that it holds now."""
    workspace = call.workspace
    with archive.transaction():
        change_work(archive, call.session(archive), {"branch": git.branch, "commit": git.commit})
    saved = Projection(archive, workspace.place, call.settings, workspace.masker, call.now).save(trigger, git)
    for line in saved.problems:
        workspace.report(line)
    return saved.state

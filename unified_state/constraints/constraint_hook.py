"""The entry of the hook before tool calls in a worktree's own settings (`.claude/settings.local.json`).

It stands there only while a constraint is enforced. Every other byte of the file stays.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.repository.place import Place
    from unified_state.memory.workspace.workspace import Workspace

_SETTINGS = os.path.join(".claude", "settings.local.json")


def settings_path(worktree: str) -> str:
    """The settings that the entry stands in."""
    return os.path.join(worktree, _SETTINGS)


def has_hook(place: Place) -> bool:
    """Whether the entry is there: a look that is cheap enough for every session start."""
    try:
        with open(settings_path(place.repository.worktree), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return False
    from unified_state.agents.install.hook_table import TOOL_HOOK_MODULE  # most worktrees have no such settings

    return f"from {TOOL_HOOK_MODULE} import" in text


def set_hook(worktree: str, workspace: Workspace, *, wanted: bool) -> None:
    """Put the entry in, or take it out. Raises UnifiedStateError where the settings cannot be read or written."""
    from unified_state.agents.install.install_claude_code import put_tool_hook
    from unified_state.memory.repository.git_exclude import exclude_from_git

    if put_tool_hook(settings_path(worktree), workspace.settings.data_dir, wanted=wanted):
        exclude_from_git(workspace.place, [os.path.basename(_SETTINGS)])

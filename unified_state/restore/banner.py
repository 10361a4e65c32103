"""The state for a person to read: the same lines a new session is given, without a limit."""

from __future__ import annotations

from unified_state.restore.compose_restore import gather
from unified_state.restore.rules.compose import compose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace

_NO_LIMIT = 1_000_000


def state_banner(workspace: Workspace, now: int) -> str:
    """The state of a workspace as text."""

    def action(archive: Archive) -> str:
        row = archive.row("SELECT id FROM session ORDER BY seen_at DESC LIMIT 1")
        known = gather(archive, workspace.place, row[0] if row else None, "startup", now)
        return compose(known, _NO_LIMIT, _NO_LIMIT).brief or "the state is empty"

    return workspace.use(action)

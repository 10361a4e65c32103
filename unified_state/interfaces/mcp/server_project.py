"""The project that a server works for, opened anew by every call: settings, archive and session are those of now."""

from __future__ import annotations

import os

from unified_state.errors import NotFoundError
from unified_state.memory.workspace.client_session import follow_client
from unified_state.memory.workspace.open_workspace import open_workspace
from unified_state.memory.workspace.workspace import Workspace
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self


class Project:
    """The folder of a project. Calls come in several threads at once, so that nothing is kept between them.

    `session_id` tells whose session a call belongs to, where the environment of this process does not.
    """

    def __init__(self, folder: str, session_id: Callable[[], str | None] = lambda: None) -> None:
        self._folder = folder
        self._session_id = session_id

    @classmethod
    def of_client(cls) -> Self:
        """The project of the client that started this process, else that of the current folder."""
        named = environment().get("CLAUDE_PROJECT_DIR", "")
        return cls(named if os.path.isdir(named) else os.getcwd())

    def reading(self) -> Workspace:
        """The workspace, for a call that only reads. Raises NotFoundError where nothing is recorded."""
        workspace = self._open(lambda _line: None, create=False)
        if workspace.is_empty:
            message = f"nothing is recorded yet for {workspace.place.repository.worktree}"
            raise NotFoundError(message, "`unified-state install` archives every turn; add_decision records a decision")
        return workspace

    def recording(self, tell: Callable[[str], None]) -> Workspace:
        """The workspace, for a call that records; `tell` is told what the agent should know beside the answer."""
        return self._open(tell, create=True)

    def _open(self, tell: Callable[[str], None], *, create: bool) -> Workspace:
        workspace = open_workspace(self._folder, self._session_id(), report=tell, advise=tell, create=create)
        follow_client(workspace)
        return workspace

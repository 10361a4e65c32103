"""The project of a server, and the answers to its calls.

Each call opens the project again, so settings, archive and session are current. For an error the caller gets one clear
text and no traceback. A bug is written to the log.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Self

from mcp_types import CallToolResult, TextContent

from unified_state.errors import NotFoundError, UnifiedStateError
from unified_state.lib.fence import visible, visible_values
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.text import well_formed
from unified_state.model.refs import GLOBAL_MARK
from unified_state.project.workspace.workspace import Workspace, client_project, in_session_of_client, open_workspace
from unified_state.settings import environment, load_settings
from unified_state.upkeep.around_use import CATCH_UP_AND_SETTLE
from unified_state.upkeep.doctor.bug_report import report_bug


class Project:
    """The folder of a project. Calls run in several threads at once, so nothing is stored between them.

    `session_id` returns the session of a call if the environment of this process does not name it.
    """

    def __init__(self, folder: str, session_id: Callable[[], str | None] = lambda: None) -> None:
        self._folder = folder
        self._session_id = session_id
        self._is_clients = False  # whether the session of the client that started this process tells the folder

    @classmethod
    def of_client(cls) -> Self:
        """Return the project of the client that started this process, or else that of the current folder."""
        project = cls("")
        project._is_clients = True
        return project

    def reading(self) -> Workspace:
        """Open the workspace for a call that only reads. Raises NotFoundError if nothing is recorded."""
        workspace = self._open(lambda _line: None, create=False)
        if workspace.is_empty:
            message = f"nothing is recorded yet for {workspace.place.repository.worktree}"
            raise NotFoundError(message, "`unified-state install` archives every turn; `add` records a decision")
        return workspace

    def of_ref(self, ref: str) -> tuple[Workspace, str]:
        """Open the workspace for reading a ref, and return it with the ref there: `global:C1` is of all projects."""
        if not ref.startswith(GLOBAL_MARK):
            return self.reading(), ref
        return self._open(lambda _line: None, create=False).of_all_projects(), ref.removeprefix(GLOBAL_MARK)

    def recording(self, tell: Callable[[str], None]) -> Workspace:
        """Open the workspace for a call that records. `tell` receives the notes for the agent."""
        return self._open(tell, create=True)

    def _open(self, tell: Callable[[str], None], *, create: bool) -> Workspace:
        named = ""
        if self._is_clients:
            named = client_project(environment(), load_settings(None, environment()).data_dir)
        return in_session_of_client(
            open_workspace(
                named or self._folder or os.getcwd(),
                self._session_id(),
                report=tell,
                create=create,
                around_use=CATCH_UP_AND_SETTLE,
            )
        )


def answering(function: Callable[..., dict[str, Any]]) -> Callable[..., CallToolResult]:
    """Return the function as a tool. Its result is the answer, as a value and as the same JSON in text."""

    @functools.wraps(function)
    def answer(**arguments: Any) -> CallToolResult:
        try:
            text = visible_values(json_text(function(**arguments)))
        except Exception as error:  # noqa: BLE001  # the edge: every error becomes an answer
            problem = str(error) if isinstance(error, UnifiedStateError) else report_bug(error, ["mcp"])
            return refusal(well_formed(problem))  # problem, place, remedy
        return CallToolResult(content=[TextContent(text=text)], structured_content=parse_json(text))

    return answer


def refusal(text: str) -> CallToolResult:
    """Return the answer to a failed call."""
    return CallToolResult(content=[TextContent(text=visible(text))], is_error=True)


def visible_value(value: Any) -> Any:
    """Return a JSON value with all its texts made visible."""
    text = dump_json(value)
    shown = visible_values(text)
    return value if shown == text else parse_json(shown)


def json_text(value: Any) -> str:
    """Return a value as JSON that every client can read."""
    return well_formed(dump_json(value))

"""Opening a workspace: the settings of a folder, and the session of this process."""

from __future__ import annotations

from unified_state.memory.archive.sessions import session_of_same_client
from unified_state.memory.workspace.workspace import READER_SECONDS, WRITER_SECONDS, Workspace
from unified_state.model.constraint import INFERRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def open_workspace(
    folder: str,
    session_id: str | None,
    *,
    report: Callable[[str], None],
    advise: Callable[[str], None] = lambda _line: None,
    origin: str = INFERRED,
    create: bool = True,
    around_use: Callable[..., Any] | None = None,
) -> Workspace:
    """Return the workspace of a folder. `session_id` defaults to the session of the client that started this process.
    Without `create` nothing is created, and a reader waits only a little for a writer.

    Raises SettingError if the value of a setting is invalid.
    """
    from unified_state.agents.transcripts.rules.hosts import SESSION_VARIABLES, session_in
    from unified_state.errors import SettingError
    from unified_state.memory.repository.place import locate
    from unified_state.settings import environment, load_settings

    environ = environment()
    place = locate(folder, load_settings(None, environ).data_dir, create=create)
    settings = load_settings(place.repository.worktree, environ)
    if settings.unusable:
        raise SettingError(settings.unusable[0], "`unified-state config` shows every setting and where it comes from")
    for line in (*settings.ignored, *filter(None, [place.notice])):
        report(line)
    is_agents = any(map(environ.get, SESSION_VARIABLES))
    return Workspace(
        place,
        settings,
        report,
        session_id=session_id or (session_in(environ) if is_agents else None),
        origin=origin,
        advise=advise,
        around_use=around_use,
        seconds=WRITER_SECONDS if create else READER_SECONDS,
    )


def in_session_of_client(workspace: Workspace) -> Workspace:
    """Return the workspace with the current session of its client. A server outlives a client's session."""
    began = workspace.session_id
    if began is None or workspace.is_empty:
        return workspace
    return workspace.replace(session_id=workspace.use(lambda archive: session_of_same_client(archive, began)))

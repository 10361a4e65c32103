"""Opening a workspace: the settings in force in a folder, and the session that this process belongs to."""

from __future__ import annotations

from unified_state.memory.archive.sessions import session_of_same_client
from unified_state.memory.workspace.workspace import Workspace
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
    """Return the workspace of a folder. Without a session id it is that of the client that started this process.

    Raises SettingError where a setting has a value that cannot be used.
    """
    from unified_state.agents.transcripts.rules.hosts import session_in
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
    return Workspace(
        place,
        settings,
        report,
        session_id=session_id or session_in(environ),
        origin=origin,
        advise=advise,
        around_use=around_use,
    )


def in_session_of_client(workspace: Workspace) -> Workspace:
    """Return the workspace with the session that its client is in now: a client that begins another session keeps its
    servers running.
    """
    began = workspace.session_id
    if began is None or workspace.is_empty:
        return workspace
    return workspace.replace(session_id=workspace.use(lambda archive: session_of_same_client(archive, began)))

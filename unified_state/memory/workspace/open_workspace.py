"""Opening a workspace: which settings count in a folder, and whose session it is."""

from __future__ import annotations

import os

from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.constraint import INFERRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def open_workspace(
    folder: str,
    session_id: str | None,
    *,
    report: Callable[[str], None],
    advise: Callable[[str], None] = lambda _line: None,
    origin: str = INFERRED,
    create: bool = True,
) -> Workspace:
    """The workspace of a folder under the settings in force there. Raises SettingError for a value that cannot be used.

    Without a session id it is that of the client that started this process, if one did.
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
        place, settings, report=report, session_id=session_id or session_in(environ), origin=origin, advise=advise
    )


def program_workspace(project_dir: str | os.PathLike[str] | None, session_id: str | None) -> Workspace:
    """The workspace of a program, which is told by warnings what a person should know. Without a folder it is that of
    the current one.
    """
    import warnings

    def warn(line: str) -> None:
        warnings.warn(line, stacklevel=2)

    return open_workspace(os.path.abspath(project_dir or "."), session_id, report=warn)

"""The project of a session: the folder in which it began, wherever it goes afterwards.

Claude Code names it in the environment of hooks and of MCP servers. That of commands has the session alone, and other
hosts name no project. So hooks keep it by the session's id until the session ends.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from unified_state.lib.files import session_file, write_session_file
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.project.place import Place

PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
SESSIONS_FOLDER = "sessions"  # in the data folder: the project of each session


def session_project(session_id: str | None, environ: Mapping[str, str], data_dir: str, shell: str = "") -> str:
    """Return the folder of a session's project, or else that of its shell; "" without one that exists. A session that
    begins has no id here.
    """
    folders = (environ.get(PROJECT_VARIABLE, ""), *_read(data_dir, session_id), shell)
    return next(filter(os.path.isdir, folders), "")


def client_project(environ: Mapping[str, str], data_dir: str) -> str:
    """Return the folder of the project of the session whose client started this process; "" without one."""
    from unified_state.hosts.transcripts.rules.hosts import session_in  # no hook asks

    return session_project(session_in(environ), environ, data_dir)


def keep_project(session_id: str, project: str, place: Place, data_dir: str) -> None:
    """Keep the folder of a session's project, for its commands and later events."""
    common_dir = place.repository.common_dir
    kept = [project, *([os.path.dirname(common_dir)] if common_dir else [])]  # for a linked worktree that is removed
    if not session_id or _read(data_dir, session_id) == kept:
        return
    try:
        write_session_file(session_file(data_dir, SESSIONS_FOLDER, session_id), dump_ascii_json(kept))
    except OSError:
        return  # the data folder is read-only; commands belong to the folder of the shell then


def drop_project(session_id: str, data_dir: str) -> None:
    """Forget the project of a session that ended: a terminal that it opened may go on, with its id."""
    try:
        os.unlink(session_file(data_dir, SESSIONS_FOLDER, session_id))
    except OSError:
        return  # there is none


def _read(data_dir: str, session_id: str | None) -> list[str]:
    if not session_id:
        return []
    try:
        return list(
            map(str, parse_json(read_regular(session_file(data_dir, SESSIONS_FOLDER, session_id), SMALL_FILE).decode()))
        )
    except (OSError, ValueError, TypeError):
        return []

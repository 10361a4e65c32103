"""The project of a session: the folder in which it began, wherever its shell stands.

Claude Code names it in the environment of hooks and of MCP servers. That of commands has the session alone, and other
hosts name no project. So hooks keep it by the session's id until the session ends.

A session that really moves (`/cd`, EnterWorktree) is told by the client: it moves the transcript among those of the new
folder, and writes an entry `relocated`. The environment still names the first folder then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Protocol

from unified_state.lib.files import session_file, write_session_file
from unified_state.lib.json_text import dump_ascii_json, parse_json, parse_object
from unified_state.lib.read_files import open_regular, read_regular
from unified_state.project.place import Place


class SessionFields(Protocol):
    """What an event or a status line says of its session."""

    @property
    def session_id(self) -> str:
        """The session."""

    @property
    def cwd(self) -> str:
        """The folder of its shell."""

    @property
    def transcript_path(self) -> str:
        """The file of its conversation."""


PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
SESSIONS_FOLDER = "sessions"  # in the data folder: the project of each session
_TRANSCRIPTS = "projects"  # the client's folder with a folder for each project
_LONGEST_NAME = 200  # characters of such a folder; behind more is a checksum
_SMALL = 1 << 16
_TAIL = 1 << 18  # bytes at the end of a transcript, in which the first hook after a move finds its entry
_WHOLE = 1 << 30
_RELOCATED = b'\n{"type":"relocated",'


def session_project(given: SessionFields, environ: Mapping[str, str], data_dir: str, *, begins: bool = False) -> str:
    """Return the folder of a session's project. `begins` says that the session begins with this event."""
    named = environ.get(PROJECT_VARIABLE, "")
    if os.path.isdir(named) and not _may_have_moved(named, given.transcript_path):
        return named
    kept, home, transcript = ("", "", "") if begins else _read(data_dir, given.session_id)
    if named and transcript != given.transcript_path:
        kept = _relocated(given.transcript_path) or named
    folders = filter(os.path.isdir, (kept, named, home, given.cwd))
    return next(folders, "") or os.getcwd()


def client_project(environ: Mapping[str, str], data_dir: str) -> str:
    """Return the folder of the project of the session whose client started this process; "" without one."""
    from unified_state.hosts.transcripts.rules.hosts import session_in  # no hook asks

    kept, home, transcript = _read(data_dir, session_in(environ) or "")
    moved = "" if not transcript or os.path.exists(transcript) else _moved(transcript)
    return next(filter(os.path.isdir, (moved, kept, environ.get(PROJECT_VARIABLE, ""), home)), "")


def keep_project(given: SessionFields, project: str, place: Place, data_dir: str) -> None:
    """Keep the folder of a session's project, for its commands and later events."""
    common_dir = place.repository.common_dir
    home = os.path.dirname(common_dir) if common_dir else ""  # counts where a linked worktree was removed
    kept = (project, home, given.transcript_path)
    if not given.session_id or _read(data_dir, given.session_id) == kept:
        return
    try:
        write_session_file(_path(data_dir, given.session_id), dump_ascii_json(kept))
    except OSError:
        return  # the data folder is read-only; commands belong to the folder of the shell then


def drop_project(session_id: str, data_dir: str) -> None:
    """Forget the project of a session that ended: a terminal that it opened may go on, with its id."""
    try:
        os.unlink(_path(data_dir, session_id))
    except OSError:
        return  # there is none


def _path(data_dir: str, session_id: str) -> str:
    return session_file(data_dir, SESSIONS_FOLDER, session_id)


def _read(data_dir: str, session_id: str) -> tuple[str, str, str]:
    if not session_id:
        return "", "", ""
    try:
        project, home, transcript = parse_json(read_regular(_path(data_dir, session_id), _SMALL).decode())
    except (OSError, ValueError, TypeError):
        return "", "", ""
    return str(project), str(home), str(transcript)


def _may_have_moved(project: str, transcript: str) -> bool:
    """Return whether the client keeps a transcript for another folder than the project: it moves the transcript with
    its session.
    """
    folder = transcript.replace("\\", "/") if sys.platform == "win32" else transcript
    top, name = folder.split("/")[-3:-1] if folder.count("/") > 1 else ("", "")
    expected = "".join("-" if not (one.isascii() and one.isalnum()) else one for one in project)
    return top == _TRANSCRIPTS and (
        name != expected if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] != expected
    )


def _moved(transcript: str) -> str:
    """Return the folder of a session whose transcript has gone elsewhere, without a hook of ours there; or ""."""
    folder, name = os.path.dirname(os.path.dirname(transcript)), os.path.basename(transcript)
    try:
        paths = [os.path.join(folder, other, name) for other in os.listdir(folder)]
    except OSError:
        return ""
    return next((_relocated(path, _WHOLE) for path in paths if os.path.exists(path)), "")


def _relocated(transcript: str, most: int = _TAIL) -> str:
    """Return the folder to which the client moved a session last, or "". The last `most` bytes are looked at."""
    try:
        with open_regular(transcript) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - most))
            tail = file.read(most)
    except OSError:
        return ""
    at = tail.rfind(_RELOCATED)
    entry = parse_object(tail[at + 1 :].partition(b"\n")[0]) if at >= 0 else None
    folder = entry.get("relocatedCwd") if entry else None
    return folder if isinstance(folder, str) and "\0" not in folder else ""

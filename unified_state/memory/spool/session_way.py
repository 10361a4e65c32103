"""The way of a session's prompts to their archive: what a hook looked at to find the archive and the settings.

Stop writes it. A prompt's hook compares it, which takes a few calls of the system, and need not find anything anew.
"""

from __future__ import annotations

import sys

from unified_state.lib.stdlib import SMALL_FILE, parse_json, read_regular, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# In the data folder: by session, by the user's folder, and again by session.
WAYS_FOLDER, STARTS_FOLDER, SESSIONS_FOLDER = "ways", "starts", "sessions"
_PLACES = ("HOME", "CLAUDE_PROJECT_DIR")  # they decide where the user's files are
_OTHERS = (b"UNIFIED_STATE_", b"CLAUDE_FLOW_")  # settings in the environment
_ENVIRON: dict[bytes, bytes] = system.environ  # type: ignore[assignment]  # in bytes, as the system has it
_UUID, _SHORTEST_SECRET = 36, 18  # characters; other ids are masked first
_TRANSCRIPTS = "projects"  # the client's folder with a folder for each project
_LONGEST_NAME = 200  # characters of such a folder; behind more is a checksum


def way_path(data_dir: str, session_id: str) -> str:
    """Return the path of a session's way, or "" for an id that clients do not make, and on Windows."""
    if sys.platform == "win32":
        return ""
    plain = session_id.replace("-", "").replace("_", "")
    is_usual = len(session_id) < _SHORTEST_SECRET or (
        len(session_id) == _UUID and session_id[8] == session_id[13] == "-"
    )
    return f"{data_dir}/{WAYS_FOLDER}/{session_id}" if is_usual and plain.isascii() and plain.isalnum() else ""


def noted_way(session_id: str, data_dir: str = "") -> dict[str, Any]:
    """Return the way that was noted for a session, or {} for an id that has none. Raises OSError and ValueError."""
    path = way_path(data_dir or usual_data_dir(), session_id)
    return read_fields(path) if path else {}


def read_fields(path: str) -> dict[str, Any]:
    """Return the fields of one of our small files. Raises OSError and ValueError."""
    fields: dict[str, Any] = parse_json(read_regular(path, SMALL_FILE).decode("utf-8", "surrogatepass"))
    return fields


def usual_data_dir() -> str:
    """Return the data folder below this process's home. Where the hooks use another one, it has no ways."""
    below = "/Library/Application Support" if sys.platform == "darwin" else "/.local/share"
    return f"{variable('HOME')}{below}/unified-state"


def present_way(cwd: str, folder: str, archive: str, files: Iterable[str], folders: Iterable[str]) -> dict[str, Any]:
    """Return a way as it is now: an archive and its folder, and the files and folders that were looked at."""
    return {
        "cwd": cwd,
        "folder": folder,
        "archive": archive,
        "places": [variable(name) for name in _PLACES],
        "files": [[path, _file_mark(path)] for path in files],
        "folders": [[path, _folder_mark(path)] for path in folders],
    }


def is_as_it_was(way: dict[str, Any], cwd: str) -> bool:
    """Return whether a prompt in a folder goes the same way, as far as its files and the environment tell."""
    return (
        way["cwd"] == cwd
        and way["places"] == [variable(name) for name in _PLACES]
        and not has_settings()
        and all(_folder_mark(path) == mark for path, mark in way["folders"])
        and all(_file_mark(path) == mark for path, mark in way["files"])
    )


def may_have_moved(project: str, transcript: str) -> bool:
    """Return whether the client keeps a transcript for another folder than the project: it moves the transcript with
    its session.
    """
    folder = transcript.replace("\\", "/") if sys.platform == "win32" else transcript
    top, name = folder.split("/")[-3:-1] if folder.count("/") > 1 else ("", "")
    expected = "".join("-" if not (one.isascii() and one.isalnum()) else one for one in project)
    return top == _TRANSCRIPTS and (
        name != expected if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] != expected
    )


def has_settings() -> bool:
    """Return whether the environment of this process may set something."""
    return any(name.startswith(_OTHERS) for name in _ENVIRON)


def variable(name: str, default: str = "") -> str:
    """Return a variable of this process's environment."""
    value = _ENVIRON.get(name.encode())
    return default if value is None else value.decode("utf-8", "surrogateescape")


def _file_mark(path: str) -> list[int] | None:
    try:
        found = system.stat(path)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _folder_mark(path: str) -> list[int] | None:
    try:
        found = system.lstat(path)
    except OSError:
        return None
    return [found.st_ino, found.st_dev]

"""The file that tells other commands where a viewer runs. It is in the project's data folder, and has no token."""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.lib.files import write_note
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, read_regular

_FILE = "viewer.json"


def note_running(folder: str, port: int) -> None:
    """Write the file. Where nothing can be written, other commands print no links."""
    try:
        write_note(os.path.join(folder, _FILE), dump_json({"port": port, "pid": os.getpid()}).encode())
    except StorageError:
        return  # a read-only folder is no reason to show nothing


def forget_running(folder: str) -> None:
    """Delete the file, unless it is another viewer's by now."""
    if _running(folder)[1] == os.getpid():
        os.unlink(os.path.join(folder, _FILE))


def running_address(folder: str) -> str:
    """Return the address of the viewer that runs for a project, or "" if none does. It has no token."""
    port, process = _running(folder)
    if not port or (not os.path.isdir(f"/proc/{process}") and os.path.isdir("/proc/self")):
        return ""
    return f"http://127.0.0.1:{port}"


def _running(folder: str) -> tuple[int, int]:
    try:
        known = parse_json(read_regular(os.path.join(folder, _FILE), SMALL_FILE).decode())
        return int(known["port"]), int(known["pid"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return 0, 0

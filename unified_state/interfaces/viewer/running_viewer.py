"""The file that tells other commands where a viewer runs, and the page that leads the browser there with the token.

Both are in the project's data folder, which only the user can read.
"""

from __future__ import annotations

import os
from html import escape

from unified_state.lib.files import PRIVATE
from unified_state.lib.stdlib import SMALL_FILE, dump_json, parse_json, read_regular

_FILE, _REDIRECT = "viewer.json", "viewer.html"


def note_running(folder: str, port: int, address: str) -> str:
    """Write both files, and return the path of the page."""
    content = f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}">\n'
    path = os.path.join(folder, _REDIRECT)
    _write(path, content)
    _write(os.path.join(folder, _FILE), dump_json({"port": port, "pid": os.getpid()}))
    return path


def forget_running(folder: str) -> None:
    """Delete both files, unless they are another viewer's by now."""
    if _running(folder)[1] != os.getpid():
        return
    for name in (_FILE, _REDIRECT):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            os.unlink(path)


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


def _write(path: str, content: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), PRIVATE)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(content)

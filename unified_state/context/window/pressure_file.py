"""The pressure file: the number of levels by which a session's outputs are shortened more while its context is full.

The Stop hook writes it, and the hook after each tool call reads it. Without pressure there is no file.
"""

from __future__ import annotations

import os

from unified_state.lib.files import session_file, write_session_file
from unified_state.lib.read_files import SMALL_FILE, read_regular

_FOLDER = "pressure"


def keep_pressure(folder: str, session_id: str, pressure: int) -> None:
    """Write the pressure; 0 removes the file."""
    path = session_file(folder, _FOLDER, session_id)
    if pressure:
        write_session_file(path, str(pressure))
    elif os.path.exists(path):
        os.unlink(path)


def read_pressure(folder: str, session_id: str) -> int:
    """Return the number of levels, or 0 without a file."""
    try:
        content = read_regular(session_file(folder, _FOLDER, session_id), SMALL_FILE)
    except OSError:
        return 0
    return int(content) if content in {b"1", b"2"} else 0

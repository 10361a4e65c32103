"""What each session was told before its tool calls, and the worktrees in which the user turned that on.

Both files are next to the archive, because a file in the repository could be a stranger's. What was told holds no text
of the user's: a line has an agent and a ref. A process reads and appends under a lock, so that one alone tells a ref.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from zlib import crc32

from unified_state.constraints.constraint_table import LOCK
from unified_state.lib.files import FileLock, session_file, write_session_file
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, read_regular
from unified_state.model.constraint import EnforcedRow
from unified_state.project.place import REMINDERS_ON

TOLD = "told"
_LOCK_SECONDS = 1.0
_MOST_REFS = 6


def worktrees_on(folder: str) -> list[str]:
    """Return the worktrees in which the user turned reminders on."""
    try:
        content = read_regular(os.path.join(folder, REMINDERS_ON), SMALL_FILE)
    except OSError:
        return []
    return list(dict.fromkeys(filter(None, os.fsdecode(content).split("\n"))))


def claim(folder: str, session_id: str, agent: str, refs: Sequence[str]) -> list[str]:
    """Return the refs that this process has to tell the agent of a session ("" is the session itself), and record them.

    Of several processes at once only one gets a ref. Raises OSError or StorageError if nothing can be recorded.
    """
    path, who = session_file(folder, TOLD, session_id), f"{crc32(agent.encode('utf-8', 'replace')):08x}"
    with FileLock(os.path.join(folder, LOCK), _LOCK_SECONDS):
        known = read_regular(path, LARGE_FILE).decode("utf-8", "replace") if os.path.lexists(path) else ""
        lines = known.split("\n")
        new = [ref for ref in dict.fromkeys(refs) if f"{who} {ref}" not in lines]
        if new:
            told = "".join(f"\n{who} {ref}\n" for ref in new)  # behind whatever damage left
            write_session_file(path, told, append=True)
    return new


def told_line(rows: Sequence[EnforcedRow]) -> str:
    """Return the one line for the model: the first fact in full, and the refs of the others."""
    others = ", ".join(row.ref for row in rows[1 : 1 + _MOST_REFS])
    more = f" Also about it: {others}; `unified-state show REF` prints one." if others else ""
    return f"[BEFORE THIS CALL] {rows[0].text}{more}"

"""What each session was told before its tool calls, and the worktrees in which the user turned that on.

Both files are next to the archive, because a file in the repository could be a stranger's. What was told holds no text
of the user's: a line has an agent, a ref and a random mark. A process appends its line and is the one that tells if no
other line before has the same agent and ref.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from zlib import crc32

from unified_state.lib.files import session_file, write_session_file
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, read_regular
from unified_state.model.constraint import EnforcedRow
from unified_state.project.place import REMINDERS_ON

TOLD = "told"
_MARK_BYTES = 6
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

    Of several processes at once only one gets a ref. Raises OSError if nothing can be recorded.
    """
    path, who = session_file(folder, TOLD, session_id), f"{crc32(agent.encode('utf-8', 'replace')):08x}"
    known = _told(path, who) if os.path.lexists(path) else {}
    new = [ref for ref in dict.fromkeys(refs) if ref not in known]
    if not new:
        return []
    mark = os.urandom(_MARK_BYTES).hex()
    lines = "".join(f"\n{who} {ref} {mark}\n" for ref in new)  # behind whatever damage left
    write_session_file(path, lines, append=True)
    first = _told(path, who)
    return [ref for ref in new if first.get(ref) == mark]


def told_line(rows: Sequence[EnforcedRow]) -> str:
    """Return the one line for the model: the first fact in full, and the refs of the others."""
    others = ", ".join(row.ref for row in rows[1 : 1 + _MOST_REFS])
    more = f" Also about it: {others}; `unified-state show REF` prints one." if others else ""
    return f"[BEFORE THIS CALL] {rows[0].text}{more}"


def _told(path: str, who: str) -> dict[str, str]:
    """Return the refs that an agent was told, each with the mark of its first line."""
    first: dict[str, str] = {}
    for line in read_regular(path, LARGE_FILE).decode("utf-8", "replace").split("\n"):
        agent, ref, mark, *_ = (*line.split(" "), "", "")
        if agent == who and mark:
            first.setdefault(ref, mark)
    return first

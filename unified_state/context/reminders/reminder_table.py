"""The files of reminders: the worktrees in which the user turned them on, the table, and what was told.

They are next to the archive. The table is written whole, with a checksum that detects damage; without a usable table
the hook adds nothing. The file of what was told holds no text of the user's: a line has an agent, a ref and a random
mark. A process appends its line and is the one that tells if no other line before has the same agent and ref.
"""

from __future__ import annotations

import os
from zlib import crc32

from unified_state.lib.files import append_session_line, session_file
from unified_state.lib.record import disk_value
from unified_state.lib.stdlib import LARGE_FILE, SMALL_FILE, dump_ascii_json, parse_json, read_regular
from unified_state.memory.repository.place import REMINDERS_ON
from unified_state.model.reminder import Reminder, Reminders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TABLE, TOLD = "reminders.json", "told"
_MARK_BYTES = 6


def worktrees_on(folder: str) -> list[str]:
    """Return the worktrees in which the user turned reminders on."""
    try:
        content = read_regular(os.path.join(folder, REMINDERS_ON), SMALL_FILE)
    except OSError:
        return []
    return list(dict.fromkeys(filter(None, os.fsdecode(content).split("\n"))))


def table_path(folder: str) -> str:
    """Return the path of a repository's table."""
    return os.path.join(folder, TABLE)


def encoded_reminders(reminders: Reminders) -> bytes:
    """Return the content of the table's file."""
    content = dump_ascii_json(disk_value(reminders)).encode()
    return _checksum(content) + b"\n" + content


def read_reminders(folder: str, kind: str) -> tuple[Reminder, ...]:
    """Return the reminders of one kind (`commands` or `files`), or none if the table is missing or damaged."""
    try:
        checksum, _, content = read_regular(table_path(folder), LARGE_FILE).partition(b"\n")
        if checksum != _checksum(content):
            return ()
        return tuple(map(Reminder.from_disk, parse_json(content.decode())[kind]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _checksum(content: bytes) -> bytes:
    return f"{crc32(content):08x}".encode()


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
    append_session_line(path, "".join(f"\n{who} {ref} {mark}\n" for ref in new))  # behind whatever damage left
    first = _told(path, who)
    return [ref for ref in new if first.get(ref) == mark]


def _told(path: str, who: str) -> dict[str, str]:
    """Return the refs that an agent was told, each with the mark of its first line."""
    first: dict[str, str] = {}
    for line in read_regular(path, LARGE_FILE).decode("utf-8", "replace").split("\n"):
        agent, ref, mark, *_ = (*line.split(" "), "", "")
        if agent == who and mark:
            first.setdefault(ref, mark)
    return first

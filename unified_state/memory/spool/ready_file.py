"""The files of restores that are ready to be printed, and the looks that tell whether they still are true.

They lie with the marks of quiet prompts, so what removes those removes them: `forget`, `prune`, `scan --fix`,
`--purge`.
"""

from __future__ import annotations

import sys

from unified_state.lib.stdlib import SMALL_FILE, parse_json, system
from unified_state.memory.spool.hook_files import QUIET_FOLDER, file_name, mark_path
from unified_state.memory.spool.session_way import STARTS_FOLDER

_ENDING, _START = ".ready", ".start"
_COUNTER, _HEADER = 24, 28  # bytes: https://sqlite.org/fileformat2.html#file_change_counter
_LONGEST = 50  # characters of a folder in the name of its file, which has at most 255 bytes
READ = system.O_RDONLY | getattr(system, "O_NONBLOCK", 0) | getattr(system, "O_BINARY", 0)
# Entries that the client writes to a transcript around a compaction and at its end, of which nothing is archived.
WORDLESS = (
    "last-prompt", "atis-latch", "mode", "permission-mode", "file-history-snapshot", "queue-operation", "cost-state",
    "ai-title", "custom-title", "agent-name", "tag", "tools-used", "worktree-state", "bridge-session", "ended-by-model",
)  # fmt: skip


def ready_path(folder: str, session_id: str) -> str:
    """Return the path of a session's ready restore. `folder` is that of the archive."""
    return f"{mark_path(folder, session_id)}{_ENDING}"


def starts_path(folder: str, cwd: str) -> str:
    """Return the path of what the next session in a folder of the user gets. Another folder may have the same."""
    return f"{folder}/{QUIET_FOLDER}/{file_name(cwd[-_LONGEST:])}{_START}"


def starts_way_path(data_dir: str, cwd: str) -> str:
    """Return the path of the file that names the archive's folder for `starts_path`; "" on Windows."""
    return "" if sys.platform == "win32" else f"{data_dir}/{STARTS_FOLDER}/{file_name(cwd[-_LONGEST:])}"


def archive_version(path: str) -> list[int]:
    """Return the archive's inode, size, time, and SQLite's count of the commits to it, which every commit raises.

    A copy that was put back may have the same count. Raises OSError.
    """
    descriptor = system.open(path, READ)
    try:
        header = system.read(descriptor, _HEADER)
        found = system.fstat(descriptor)
        return [found.st_ino, found.st_size, found.st_mtime_ns, int.from_bytes(header[_COUNTER:], "big")]
    finally:
        system.close(descriptor)


def adds_nothing(path: str, inode: int | None, offset: int) -> bool:
    """Return whether what the client wrote to a transcript behind an offset has no words and no work.

    A transcript without an inode did not exist. Raises OSError, and ValueError for what is no transcript.
    """
    try:
        found = system.stat(path)
    except FileNotFoundError:
        return inode is None
    if found.st_ino != inode and inode is not None:
        return False
    if found.st_size == offset:
        return True
    descriptor = system.open(path, READ)
    try:
        if not 0 <= system.fstat(descriptor).st_size - offset < SMALL_FILE:
            return False
        system.lseek(descriptor, offset, 0)
        added = system.read(descriptor, SMALL_FILE)
    finally:
        system.close(descriptor)
    lines = added.decode("utf-8", "replace").split("\n")
    return not lines.pop() and all(parse_json(entry)["type"] in WORDLESS for entry in lines)

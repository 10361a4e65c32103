"""The file of a restore that is ready to be printed, and the look at the archive that tells whether it still is true.

It lies with the marks of quiet prompts, so what removes them removes it: `forget`, `prune`, `scan --fix`, `--purge`.
"""

from __future__ import annotations

from unified_state.lib.stdlib import system
from unified_state.memory.spool.hook_files import mark_path

_ENDING = ".ready"
_COUNTER, _HEADER = 24, 28  # bytes: https://sqlite.org/fileformat2.html#file_change_counter
READ = system.O_RDONLY | getattr(system, "O_NONBLOCK", 0) | getattr(system, "O_BINARY", 0)


def ready_path(folder: str, session_id: str) -> str:
    """Return the path of a session's ready restore. `folder` is that of the archive."""
    return f"{mark_path(folder, session_id)}{_ENDING}"


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

"""A disk in memory for what tests write: processes are killed in them, machines are not, so waiting for a real disk
proves nothing.
"""

from __future__ import annotations

import shutil
from pathlib import Path

_MEMORY, _ENOUGH = Path("/dev/shm"), 1 << 30  # bytes


def memory_disk() -> str | None:
    """Return the folder of a disk in memory that has room, or None."""
    return str(_MEMORY) if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH else None

"""How many items have gone stale, as far as it is cheaply known: those whose files are all gone."""

from __future__ import annotations

import os

from unified_state.lib.stdlib import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

_MOST_ITEMS, _MOST_FILES = 100, 5  # that are looked at


def count_stale(archive: Archive, worktree: str) -> int:
    """The number of active items that speak of files of which none is there any more; of the newest items."""
    rows = archive.rows(
        "SELECT files FROM item WHERE status = 'active' AND files NOT NULL AND kind != 'evidence' "
        "ORDER BY id DESC LIMIT ?",
        _MOST_ITEMS,
    )
    return sum(_all_gone(worktree, parse_json(files)) for (files,) in rows)


def _all_gone(worktree: str, files: list[str]) -> bool:
    return bool(files) and not any(os.path.lexists(os.path.join(worktree, name)) for name in files[:_MOST_FILES])

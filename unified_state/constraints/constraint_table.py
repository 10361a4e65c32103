"""The table of enforced constraints, and the hook in a worktree's settings that reads it before each tool call.

The table is a small file next to the archive. It is written whole, with a checksum that detects damage, and with the
archive's stamp, which detects a stale table. The hook is in `.claude/settings.local.json` for all tools while a
constraint is enforced, and for some while only facts are told. All other bytes of that file stay.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from zlib import crc32

from unified_state.lib.files import FileLock
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.record import Record, disk_value
from unified_state.model.constraint import ALL_TOOLS, MODES, TELL, EnforcedRow
from unified_state.model.hook_event import CHECK_WORD
from unified_state.project.place import Place

if TYPE_CHECKING:
    from unified_state.archive.archive import Archive


TABLE = "enforced.json"
LOCK = "enforced.lock"  # of the table, and of what was told
_STAMP_BYTES = 8


class Table(Record):
    """The constraints that are enforced in a repository, and the facts that are told before tool calls."""

    stamp: str
    constraints: tuple[EnforcedRow, ...] = ()
    told: tuple[EnforcedRow, ...] = ()


def table_path(folder: str) -> str:
    """Return the path of a repository's table."""
    return os.path.join(folder, TABLE)


def read_table(folder: str) -> Table | None:
    """Return the table of a repository, or None if it is missing or damaged."""
    try:
        checksum, _, content = read_regular(table_path(folder), LARGE_FILE).partition(b"\n")
        if checksum != _checksum(content):
            return None
        fields = parse_json(content.decode())
        constraints, told = (
            tuple(map(EnforcedRow.from_disk, fields.get(name, ()))) for name in ("constraints", "told")
        )
        stamp = fields["stamp"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    is_whole = all(row.mode in MODES for row in constraints) and all(row.mode == TELL for row in told)
    return Table(stamp, constraints, told) if isinstance(stamp, str) and is_whole else None


def encoded_table(table: Table) -> bytes:
    """Return the content of the table's file."""
    content = dump_ascii_json(disk_value(table)).encode()
    return _checksum(content) + b"\n" + content


def new_stamp() -> str:
    """Return a stamp that no other table has."""
    return os.urandom(_STAMP_BYTES).hex()


def ever_enforced(archive: Archive, folder: str) -> bool:
    """Return whether a constraint was ever enforced here, or a table exists."""
    from unified_state.archive.archive import read_enforcement  # loads SQLite, which tool hooks avoid

    return read_enforcement(archive)[1] != "" or os.path.lexists(table_path(folder))


def set_stamp(archive: Archive, changed: int, stamp: str) -> None:
    """Record the stamp of the table that includes this many changes of the ledger. The writer of a later change
    compiles again.
    """
    archive.run("UPDATE enforcement SET stamp = ? WHERE changed = ?", stamp, changed)


def _checksum(content: bytes) -> bytes:
    return f"{crc32(content):08x}".encode()


_SETTINGS = os.path.join(".claude", "settings.local.json")
_LOCK_SECONDS = 4.0


def settings_path(worktree: str) -> str:
    """Return the path of the settings with the hook's entry."""
    return os.path.join(worktree, _SETTINGS)


def has_hook(place: Place) -> bool:
    """Return whether the settings contain the hook for all tools, which is there while a constraint is enforced."""
    return hook_matcher(place.repository.worktree) == ALL_TOOLS


def hook_matcher(worktree: str) -> str | None:
    """Return the tools before which the settings of a worktree call the hook, or None if they do not. The check is
    cheap enough for every session start.
    """
    try:
        text = read_regular(settings_path(worktree), LARGE_FILE).decode("utf-8", "replace")
    except OSError:
        return None
    from unified_state.hosts.install.hook_table import LAUNCHER, tool_matcher  # few worktrees have settings

    try:
        return tool_matcher(parse_json(text)) if LAUNCHER in text else None
    except (ValueError, RecursionError):
        return ALL_TOOLS if f'"{CHECK_WORD}"' in text else None  # the user is just editing it


def set_hook(worktree: str, place: Place, data_dir: str, matcher: str | None) -> None:
    """Add the hook before some tools, or remove it (None). Raises UnifiedStateError if the settings cannot be read or
    written.
    """
    if hook_matcher(worktree) == matcher:
        return
    from unified_state.hosts.install.install_claude_code import put_tool_hook
    from unified_state.project.git_exclude import exclude_from_git

    with FileLock(os.path.join(place.folder, "hooks.lock"), _LOCK_SECONDS):
        is_new = put_tool_hook(settings_path(worktree), data_dir, matcher)
    if is_new:
        exclude_from_git(place, [os.path.basename(_SETTINGS)])

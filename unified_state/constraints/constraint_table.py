"""The table of enforced constraints: a small file beside the archive that the hook reads before each tool call.

It is written whole, with a checksum and the stamp that the archive has too: so it is known whether it is damaged, and
whether it is as the ledger is.
"""

from __future__ import annotations

import os
from zlib import crc32

from unified_state.lib.record import Record, disk_value
from unified_state.lib.stdlib import dump_ascii_json, parse_json
from unified_state.model.constraint import MODES, Enforced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

TABLE = "enforced.json"
_STAMP_BYTES = 8


class Table(Record):
    """The constraints that are enforced in a repository."""

    stamp: str
    constraints: tuple[Enforced, ...] = ()


def table_path(folder: str) -> str:
    """Where the table of a repository lies."""
    return os.path.join(folder, TABLE)


def read_table(folder: str) -> Table | None:
    """The table of a repository; None where it is missing or damaged."""
    try:
        with open(table_path(folder), "rb") as file:
            checksum, _, content = file.read().partition(b"\n")
        if checksum != _checksum(content):
            return None
        fields = parse_json(content.decode())
        constraints = tuple(map(Enforced.from_disk, fields["constraints"]))
        stamp = fields["stamp"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    is_whole = isinstance(stamp, str) and all(constraint.mode in MODES for constraint in constraints)
    return Table(stamp, constraints) if is_whole else None


def encoded_table(table: Table) -> bytes:
    """The content of the file."""
    content = dump_ascii_json(disk_value(table)).encode()
    return _checksum(content) + b"\n" + content


def new_stamp() -> str:
    """A stamp that no other table has."""
    return os.urandom(_STAMP_BYTES).hex()


def read_stamp(archive: Archive) -> tuple[int, str | None]:
    """How often a constraint changed, and the stamp of the table that was compiled since, if one was."""
    row = archive.row("SELECT changed, stamp FROM enforcement")
    return (0, None) if row is None else (row[0], row[1])


def ever_enforced(archive: Archive, folder: str) -> bool:
    """Whether there was ever a constraint here, or there is a table."""
    return read_stamp(archive)[1] != "" or os.path.lexists(table_path(folder))


def set_stamp(archive: Archive, changed: int, stamp: str) -> None:
    """Note that the table is as the ledger was after so many changes; where there was one more, somebody else is about
    to compile it.
    """
    archive.run("UPDATE enforcement SET stamp = ? WHERE changed = ?", stamp, changed)


def _checksum(content: bytes) -> bytes:
    return f"{crc32(content):08x}".encode()

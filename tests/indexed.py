"""What the full-text index of an archive answers, from both of its tables."""

from __future__ import annotations

from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.steps import NEWER, OLDER


def steps_having(archive: Archive, query: str) -> list[int]:
    """The steps that match an expression of FTS5, in order."""
    select = "SELECT rowid FROM {0} WHERE {0} MATCH ?"
    return sorted(number for table in (OLDER, NEWER) for number in archive.column(select.format(table), query))


def check_index(archive: Archive) -> None:
    """Have SQLite check both tables. Raises DatabaseError."""
    for table in (OLDER, NEWER):
        archive.run(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")


def begin_forms_at(archive: Archive, *, parts: int, without_line_numbers: int, once: int) -> None:
    """Have steps before these indexed as earlier versions did: without the parts of names, with the numbers of lines,
    and in the older table.
    """
    archive.set_meta("first step with parts", str(parts))
    archive.set_meta("first step without line numbers", str(without_line_numbers))
    archive.set_meta("first step with words once", str(once))

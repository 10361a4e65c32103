"""What the full-text index of an archive answers."""

from __future__ import annotations

from unified_state.archive.archive import Archive


def steps_having(archive: Archive, query: str) -> list[int]:
    """The steps that match an expression of FTS5, in order."""
    return sorted(archive.column("SELECT rowid FROM step_words WHERE step_words MATCH ?", query))


def check_index(archive: Archive) -> None:
    """Have SQLite check it. Raises DatabaseError."""
    archive.run("INSERT INTO step_words (step_words) VALUES ('integrity-check')")

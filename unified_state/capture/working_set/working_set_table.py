"""The working sets of the sessions: one row for each file, ordered by its level.

A level is a logarithm that stays constant between sightings (see `lib.decay`), so an index finds the top rows without a
scan of the others.
"""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import pack, unpack
from unified_state.model.known import WorkingFile

_TOP_FILES = 60


class Entry(Record):
    """One row: its path and level, the levels of the identifiers in it, whether a call named it, what became of it."""

    path: str
    level: float
    words: dict[str, float]
    is_used: bool = False
    gone: str = ""


def files_named(archive: Archive, name: str) -> list[str]:
    """Return the paths of up to two files of that name, in any folder, that any session worked with."""
    rows = archive.rows(
        "SELECT DISTINCT path FROM working_set WHERE substr(path, -length(?1)) = ?1 LIMIT 2",
        f"/{name}",
    )
    return [row[0] for row in rows]


def paths_below(archive: Archive, session: int, folder: str) -> list[str]:
    """Return the paths of a working set that begin with a folder's, which ends with a slash."""
    query = "SELECT path FROM working_set WHERE session = ?1 AND substr(path, 1, length(?2)) = ?2"
    return archive.column(query, session, folder)


def read_clock(archive: Archive, session: int) -> int:
    """Return the number of steps that the session itself has taken."""
    return int(archive.row("SELECT clock FROM session WHERE id = ?", session)[0])


def move_clock(archive: Archive, session: int, clock: int) -> None:
    """Set the number of steps that the session has taken."""
    archive.run("UPDATE session SET clock = ? WHERE id = ?", clock, session)


def read_entry(archive: Archive, session: int, path: str) -> Entry | None:
    """Return one row of a working set, or None."""
    row = archive.row("SELECT path, level, data FROM working_set WHERE session = ? AND path = ?", session, path)
    return None if row is None else _entry(row)


def write_entry(archive: Archive, session: int, entry: Entry) -> None:
    """Insert or replace a row."""
    words = {word: round(level, 2) for word, level in entry.words.items()}
    data = pack(dump_json([words, entry.is_used, entry.gone]))
    archive.execute("INSERT OR REPLACE INTO working_set VALUES (?, ?, ?, ?)", (session, entry.path, entry.level, data))


def top_entries(archive: Archive, session: int, limit: int = _TOP_FILES) -> list[Entry]:
    """Return the rows with the highest levels."""
    rows = archive.rows(
        "SELECT path, level, data FROM working_set WHERE session = ? ORDER BY level DESC, path LIMIT ?", session, limit
    )
    return [_entry(row) for row in rows]


def clear_working_set(archive: Archive, session: int) -> None:
    """Empty the working set of a session."""
    archive.run("DELETE FROM working_set WHERE session = ?", session)
    move_clock(archive, session, 0)


def _entry(row: Any) -> Entry:
    try:
        words, is_used, gone = parse_json(unpack(row[2]))
        return Entry(row[0], row[1], dict(words), is_used, gone)
    except (ValueError, TypeError):  # the disk changed its bytes; the path and the level are still good
        return Entry(row[0], row[1], {})


def by_level(level: tuple[str, float]) -> tuple[float, str]:
    """Return the sort key of a word with its level. Equal levels are sorted by name, so that the order of a set has no
    effect.
    """
    return level[1], level[0]


def read_working_set(archive: Archive, session: int) -> tuple[WorkingFile, ...]:
    """Return the top of a session's working set."""
    return tuple(
        WorkingFile(entry.path, _names(entry), is_used=entry.is_used, gone=entry.gone)
        for entry in top_entries(archive, session)
    )


def _names(entry: Entry) -> tuple[str, ...]:
    return tuple(word for word, _ in sorted(entry.words.items(), key=by_level, reverse=True))

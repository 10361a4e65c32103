"""The working sets of the sessions: one row for each file, command, reference and error, ordered by its level.

A level is a logarithm that stays constant between sightings (see `lib.decay`), so an index finds the top rows without a
scan of the others.
"""

from __future__ import annotations

from typing import Any

from unified_state.lib.decay import score
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import pack, unpack
from unified_state.memory.archive.archive import Archive
from unified_state.model.known import (
    COMMAND,
    ERROR,
    FILE,
    NO_FILE,
    PROGRAM,
    REFERENCE,
    RanCommand,
    WorkingFile,
    WorkingSet,
)


class Entry(Record):
    """One row: its name and level, the levels of the identifiers in it, and further details."""

    name: str
    level: float
    words: dict[str, float]
    details: dict[str, Any]


def files_named(archive: Archive, name: str) -> list[str]:
    """Return the paths of up to two files of that name, in any folder, that any session worked with."""
    rows = archive.rows(
        "SELECT DISTINCT name FROM working_set WHERE kind = 'file' AND substr(name, -length(?1)) = ?1 LIMIT 2",
        f"/{name}",
    )
    return [row[0] for row in rows]


def read_clock(archive: Archive, session: int) -> int:
    """Return the number of steps that the session itself has taken."""
    return int(archive.row("SELECT clock FROM session WHERE id = ?", session)[0])


def move_clock(archive: Archive, session: int, clock: int) -> None:
    """Set the number of steps that the session has taken."""
    archive.run("UPDATE session SET clock = ? WHERE id = ?", clock, session)


def read_entry(archive: Archive, session: int, kind: str, name: str) -> Entry | None:
    """Return one row of a working set, or None."""
    row = archive.row(
        "SELECT name, level, data FROM working_set WHERE session = ? AND kind = ? AND name = ?", session, kind, name
    )
    return None if row is None else _entry(row)


def write_entry(archive: Archive, session: int, kind: str, entry: Entry) -> None:
    """Insert or replace a row."""
    data = pack(dump_json([{word: round(level, 2) for word, level in entry.words.items()}, entry.details]))
    values = (session, kind, entry.name, entry.level, data)
    archive.execute("INSERT OR REPLACE INTO working_set VALUES (?, ?, ?, ?, ?)", values)


def top_entries(archive: Archive, session: int, kind: str, limit: int) -> list[Entry]:
    """Return the rows of a kind with the highest levels."""
    rows = archive.rows(
        "SELECT name, level, data FROM working_set WHERE session = ? AND kind = ? ORDER BY level DESC, name LIMIT ?",
        session,
        kind,
        limit,
    )
    return [_entry(row) for row in rows]


def clear_working_set(archive: Archive, session: int) -> None:
    """Empty the working set of a session."""
    archive.run("DELETE FROM working_set WHERE session = ?", session)
    move_clock(archive, session, 0)


def _entry(row: Any) -> Entry:
    try:
        words, details = parse_json(unpack(row[2]))
    except (ValueError, TypeError):  # the disk changed its bytes; the name and the level are still good
        words, details = {}, {}
    return Entry(row[0], row[1], words, details)


_TOP_FILES, _TOP_COMMANDS, _TOP_PROGRAMS, _TOP_REFERENCES, _TOP_ERRORS = 60, 20, 20, 40, 6
_LEAST_SCORE = 0.02


def by_level(level: tuple[str, float]) -> tuple[float, str]:
    """Return the sort key of a word with its level. Equal levels are sorted by name, so that the order of a set has no
    effect.
    """
    return level[1], level[0]


def read_working_set(archive: Archive, session: int) -> WorkingSet:
    """Return the top of a session's working set, with the current scores."""
    clock = read_clock(archive, session)
    loose = read_entry(archive, session, FILE, NO_FILE)
    files = [entry for entry in top_entries(archive, session, FILE, _TOP_FILES) if entry.name != NO_FILE]
    return WorkingSet(
        files=tuple(_file(entry, clock) for entry in files),
        words=_scored(loose.words, clock) if loose else (),
        commands=tuple(_command(entry, clock) for entry in top_entries(archive, session, COMMAND, _TOP_COMMANDS)),
        programs=_names(archive, session, PROGRAM, _TOP_PROGRAMS, clock),
        references=_names(archive, session, REFERENCE, _TOP_REFERENCES, clock),
        errors=_names(archive, session, ERROR, _TOP_ERRORS, clock),
    )


def _names(archive: Archive, session: int, kind: str, limit: int, clock: int) -> tuple[tuple[str, float], ...]:
    return tuple((entry.name, score(entry.level, clock)) for entry in top_entries(archive, session, kind, limit))


def _file(entry: Entry, clock: int) -> WorkingFile:
    hot = entry.details.get("hot")
    return WorkingFile(
        path=entry.name,
        score=score(entry.level, clock),
        hot=0.0 if hot is None else score(hot, clock),
        words=_scored(entry.words, clock),
        gone=entry.details.get("gone") or "",
    )


def _scored(words: dict[str, float], clock: int) -> tuple[tuple[str, float], ...]:
    scored = ((word, score(level, clock)) for word, level in sorted(words.items(), key=by_level, reverse=True))
    return tuple((word, value) for word, value in scored if value >= _LEAST_SCORE)


def _command(entry: Entry, clock: int) -> RanCommand:
    details = entry.details
    return RanCommand(
        command=entry.name,
        score=score(entry.level, clock),
        failed=details.get("failed") is True,
        last=details.get("last"),
        failing=tuple(details.get("failing") or ()),
    )

"""Notes that wait: what a state file that this archive did not write holds beside its items.

Each is a row of the table of notes, whose kind begins with a word that no reader of notes asks for. So none of them is
ever given back, and each is proposed once, whatever became of it.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.times import to_text
from unified_state.memory.archive.session_work import TODO, add_notes, change_work
from unified_state.memory.archive.sessions import LOCAL_SESSION, touch_session
from unified_state.memory.ledger.rules.from_file import KEYS_FROM_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from unified_state.memory.archive.archive import Archive

HIGHLIGHT, ACTION, WORK_ITEM, FIELD = "highlight", "action", "work item", "field"
TOLD_OF_FILE = "told of the state file"  # the name of the value in the archive: when the user was told
JSON_KINDS = (WORK_ITEM, FIELD)
_WAITS = "proposed "


class FileNote(Record):
    """A highlight, a pending action, a work item, or another field of a state file.

    `text` is JSON in those of `JSON_KINDS`. `name` is the name of the other field.
    """

    kind: str
    text: str
    name: str | None = None


class WaitingNote(Record):
    """A note that waits, its number and the time when it was found."""

    number: int
    note: FileNote
    at: str


def propose_notes(archive: Archive, notes: Iterable[FileNote], now: int) -> int:
    """Let the notes wait that the archive does not know, and return their number. Call it in a transaction."""
    added = 0
    for note in notes:
        if not _is_known(archive, note):
            archive.run(
                "INSERT INTO note (session, kind, text, at, key) VALUES (NULL, ?, ?, ?, ?)",
                _WAITS + note.kind,
                archive.masked(note.text),
                to_text(now),
                note.name,
            )
            added += 1
    return added


def waiting_notes(archive: Archive) -> list[WaitingNote]:
    """Return the notes that wait, the oldest first."""
    where = "WHERE kind GLOB ? AND done_at IS NULL ORDER BY id"
    return [
        WaitingNote(number, FileNote(kind.removeprefix(_WAITS), text, name), at)
        for number, kind, text, name, at in archive.rows(
            f"SELECT id, kind, text, key, at FROM note {where}", f"{_WAITS}*"
        )
    ]


def waits_from_file(archive: Archive) -> bool:
    """Return whether anything of a state file waits."""
    item = "SELECT 1 FROM item WHERE capture_key GLOB ? AND status = 'proposed'"
    note = "SELECT 1 FROM note WHERE kind GLOB ? AND done_at IS NULL"
    return archive.row(f"{item} UNION ALL {note} LIMIT 1", KEYS_FROM_FILE, f"{_WAITS}*") is not None


def end_waiting(archive: Archive, notes: Iterable[WaitingNote], at: str) -> None:
    """Let some notes wait no more. They stay known, so no file proposes them again. Call it in a transaction."""
    for waiting in notes:
        archive.run("UPDATE note SET done_at = ? WHERE id = ?", at, waiting.number)


def take_over(archive: Archive, notes: Sequence[FileNote], now: int) -> None:
    """Make notes this project's own, but for the other fields, which only the state file can hold.

    The first work item is that of no session, as if the user had set it in a shell, and any other one is a highlight.
    Call it in a transaction.
    """
    first, *others = [parse_json(note.text) for note in notes if note.kind == WORK_ITEM] or [None]
    add_notes(
        archive, None, HIGHLIGHT, [f"work item {', '.join(map(str, one.values()))}" for one in others], to_text(now)
    )
    for kind in (HIGHLIGHT, ACTION):
        add_notes(archive, None, kind, [note.text for note in notes if note.kind == kind], to_text(now))
    if first is not None:
        change_work(archive, touch_session(archive, LOCAL_SESSION, now), {"workItem": first})


def other_fields(notes: Iterable[FileNote]) -> dict[str, Any]:
    """Return the other fields among some notes, by their names in the state file."""
    return {str(note.name): parse_json(note.text) for note in notes if note.kind == FIELD}


def _is_known(archive: Archive, note: FileNote) -> bool:
    """Return whether the archive has or had a note. Our own files show the state of a to-do entry before its text."""
    text, kinds = archive.masked(note.text), [note.kind, _WAITS + note.kind, *([TODO] if note.kind == ACTION else ())]
    texts = [text, text.partition("] ")[2] or text] if note.kind == ACTION and text.startswith("[") else [text]
    query = (
        f"SELECT 1 FROM note WHERE kind IN ({', '.join('?' * len(kinds))}) AND key IS coalesce(?, key) "
        f"AND text IN ({', '.join('?' * len(texts))})"
    )
    if archive.row(query, *kinds, note.name, *texts):
        return True
    return note.kind == WORK_ITEM and any(
        dump_json(parse_json(work).get("workItem")) == text
        for work in archive.column("SELECT work FROM session WHERE work LIKE '%\"workItem\"%'")
    )

"""Notes that wait: what a state file that this archive did not write holds beside its items.

Each is a row of the table of notes, whose kind begins with a word that no reader of notes asks for. So none of them is
ever given back, and each is proposed once, whatever became of it. The capture key of an item from such a file tells
that, with the status that it has there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.session_work import TODO, add_notes, change_work
from unified_state.archive.sessions import LOCAL_SESSION, touch_session
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import text_hash
from unified_state.lib.times import to_text
from unified_state.model.item import LedgerItem
from unified_state.model.session_state import WorkItem

HIGHLIGHT, ACTION, WORK_ITEM = "highlight", "action", "work item"
TOLD_OF_FILE = "told of the state file"  # the name of the value in the archive: when the user was told
_WAITS = "proposed "
KEYS_FROM_FILE = "state file:*"  # a GLOB pattern
_PREFIX = KEYS_FROM_FILE[:-1]


class FileNote(Record):
    """A highlight, a pending action, or a work item of a state file, whose text is JSON."""

    kind: str
    text: str

    @property
    def value(self) -> Any:
        """The text, or the value of its JSON. A text that a mask has made no JSON stays one."""
        try:
            return parse_json(self.text) if self.kind == WORK_ITEM else self.text
        except ValueError:
            return self.text


class WaitingNote(Record):
    """A note that waits, its number and the time when it was found."""

    number: int
    note: FileNote
    at: str


def propose_notes(archive: Archive, notes: Iterable[FileNote], now: int) -> None:
    """Let the notes wait that the archive does not have and never had. Call it in a transaction."""
    known = _known(archive)
    insert = "INSERT INTO note (session, kind, text, at) VALUES (NULL, ?, ?, ?)"
    for note in notes:
        masked = note.replace(text=archive.masked(note.text))
        if masked not in known and _without_state(masked) not in known:
            archive.run(insert, _WAITS + note.kind, masked.text, to_text(now))


def waiting_notes(archive: Archive) -> list[WaitingNote]:
    """Return the notes that wait, the oldest first."""
    where = "WHERE kind GLOB ? AND done_at IS NULL ORDER BY id"
    return [
        WaitingNote(number, FileNote(kind.removeprefix(_WAITS), text), at)
        for number, kind, text, at in archive.rows(f"SELECT id, kind, text, at FROM note {where}", f"{_WAITS}*")
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
    """Make notes this project's own.

    The first work item is that of no session, as if the user had set it in a shell, and any other one is a highlight.
    Call it in a transaction.
    """
    works = [note.value for note in notes if note.kind == WORK_ITEM and isinstance(note.value, dict)]
    named = [f"work item {', '.join(map(str, work.values()))}" for work in works[1:]]
    for kind, more in ((HIGHLIGHT, named), (ACTION, [])):
        add_notes(archive, None, kind, [*more, *(note.text for note in notes if note.kind == kind)], to_text(now))
    if works:
        change_work(archive, touch_session(archive, LOCAL_SESSION, now), {"workItem": works[0]})


def _known(archive: Archive) -> set[FileNote]:
    """Return all notes that the archive has or had, and the work items of its sessions."""
    rows = archive.rows("SELECT kind, text FROM note")
    notes = {FileNote(ACTION if kind == TODO else kind.removeprefix(_WAITS), text) for kind, text in rows}
    works = archive.column("SELECT work FROM session WHERE work LIKE '%\"workItem\"%'")
    items = [WorkItem.from_disk(item) for work in works if (item := parse_json(work).get("workItem"))]
    return notes | {FileNote(WORK_ITEM, dump_json(disk_value(item))) for item in items}


def _without_state(note: FileNote) -> FileNote:
    """Return a pending action without the state in front of it, with which our own files show an agent's to-do."""
    state, _, text = note.text.partition("] ")
    return note.replace(text=text) if note.kind == ACTION and state.startswith("[") and text else note


def key_from_file(status: str, entry: Any) -> str:
    """Return the capture key of an entry, given as JSON, that has a status in its file."""
    return f"{_PREFIX}{status}:{text_hash(dump_json(entry))}"


def is_from_file(item: LedgerItem) -> bool:
    """Return whether an item came from a state file that this archive did not write."""
    return (item.capture_key or "").startswith(_PREFIX)


def status_in_file(item: LedgerItem) -> str:
    """Return the status that such an item has in its file, or ""."""
    return item.capture_key.split(":")[1] if item.capture_key and is_from_file(item) else ""

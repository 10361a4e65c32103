"""Read histories of earlier builds of the JSON tier, once, to merge them.

A file has the steps of one session, one on each line. A copy of another session's step names the original. Of several
lines about one record the newest counts. A line that is not a JSON object is skipped and counted as damaged.
"""

from __future__ import annotations

import os

from unified_state.lib.stdlib import dump_json, parse_object, read_regular
from unified_state.memory.archive.pending_messages import Pending
from unified_state.memory.archive.session_work import change_work
from unified_state.memory.archive.sessions import Cursor, move_cursor, touch_session
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.memory.history.record_fields import UNKNOWN, checked_record
from unified_state.memory.ledger.item_table import raise_counter
from unified_state.model.history_records import (
    StoredCompaction,
    StoredItem,
    StoredLink,
    StoredSession,
    StoredStep,
    Tombstone,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from unified_state.lib.record import Record
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.history_records import HistoryRecord

    Fields = dict[str, Any]

FORMER = "store.json"  # marks such a history; deleted last
_LARGEST = 1 << 30  # bytes of one file
_JOURNAL, _DESK, _CLEANING, _GONE = "journal", "desk.json", "cleaning", "gone"
_SESSION = "session-"
_RECORDS: dict[str, type[Record]] = {
    "compactions.jsonl": StoredCompaction,
    "items.jsonl": StoredItem,
    "links.jsonl": StoredLink,
    "tombstones.jsonl": Tombstone,
}


def former_files(folder: str) -> list[str]:
    """Return the names of such files in a folder, the marker last, or an empty list if the marker is missing."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    known = {*_RECORDS, "sessions.jsonl", _JOURNAL, _DESK, _CLEANING, _GONE, "keys"}
    found = [name for name in names if name in known or name.startswith(_SESSION)]
    return [*found, FORMER] if FORMER in names else []


class FormerFiles:
    """The files of one folder. `damaged` counts the unreadable lines."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.damaged = 0
        self._sizes = next(self._lines(_JOURNAL), {})  # bytes after these sizes were never acknowledged

    def put_into(self, archive: Archive) -> list[tuple[str, Pending]]:
        """Copy everything into an empty archive. Return the messages without a transcript entry, by session."""
        SqliteStore(archive.path, archive=archive).append(self._records())
        desk = next(self._lines(_DESK), {})
        pending: list[tuple[str, Pending]] = []
        parts: dict[str, Callable[..., object]] = {
            "work": lambda named: _put_work(archive, *named),
            "cursors": lambda named: _put_cursor(archive, *named),
            "notes": lambda note: _put_note(archive, note),
            "saved": lambda named: _put_save(archive, *named),
            "pending": lambda told: pending.append((str(told[0]), Pending(str(told[1]), str(told[2]), int(told[3])))),
        }
        with archive.transaction():
            for alias in self._taken():
                raise_counter(archive, alias[:1], int(alias[1:]))
            for name, put in parts.items():
                part = desk.get(name) or ()
                for told in part.items() if isinstance(part, dict) else part:
                    try:
                        put(told)
                    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
                        self.damaged += 1
        return pending

    def _taken(self) -> Iterator[str]:
        """Yield the aliases of forgotten items, which must not be reused."""
        for fields in self._lines("items.jsonl", counts=False):
            for name in fields["taken"] if isinstance(fields.get("taken"), list) else ():
                if isinstance(name, str) and name[1:].isascii() and name[1:].isdigit():
                    yield name

    def _records(self) -> Iterator[HistoryRecord]:
        sessions = list(self._lines("sessions.jsonl"))
        yield from self._made(StoredSession, sessions)
        numbers: dict[int, str] = {}
        for fields in sessions:
            if isinstance(name := fields.get("session_id"), str) and name not in numbers.values():
                number = fields.get("n")
                numbers[number if isinstance(number, int) else len(numbers) + 1] = name
        yield from self._made(StoredStep, self._steps(numbers))
        yield from self._made(StoredStep, self._lines(_CLEANING, counts=False))  # masked, but not yet in place
        for file, kind in _RECORDS.items():
            yield from self._made(kind, (fields for fields in self._lines(file) if "taken" not in fields))

    def _steps(self, sessions: dict[int, str]) -> Iterator[Fields]:
        """Yield the steps of all sessions, except forgotten or pruned ones that are still in a file."""
        gone = set(self._content(_GONE).split(b"\n"))
        originals: dict[tuple[int, int], Fields] = {}
        for number, name in sessions.items():
            for fields in self._lines(f"{_SESSION}{number}.jsonl"):
                match fields:
                    case {"of": [int(owner), int(place)]}:
                        if (original := originals.get((owner, place))) is not None:
                            yield {**original, "starts_turn": fields.get("starts_turn", False), "session_id": name}
                    case {"n": int(place), "uuid": str(uuid), "block": int(block)}:
                        if f"{dump_json(uuid)} {block}".encode("utf-8", "surrogatepass") not in gone:
                            originals[number, place] = fields
                            yield {**fields, "session_id": name}
                    case _:
                        self.damaged += 1

    def _made(self, kind: type[Record], told: Iterable[Fields]) -> Iterator[Any]:
        for fields in told:
            known = {name: value for name, value in fields.items() if name in kind.disk_names}
            newer = {name: value for name, value in fields.items() if name not in kind.disk_names and name != "n"}
            try:
                yield checked_record(kind, known, newer if UNKNOWN in kind.disk_names else {})
            except ValueError:
                self.damaged += 1

    def _lines(self, name: str, *, counts: bool = True) -> Iterator[Fields]:
        content = self._content(name)
        for line in [content] if name in (_JOURNAL, _DESK) else content.split(b"\n"):
            if line.strip():
                value = parse_object(line, "surrogatepass")
                if value is None:
                    self.damaged += counts
                else:
                    yield value

    def _content(self, name: str) -> bytes:
        try:
            content = read_regular(os.path.join(self._folder, name), _LARGEST)
        except FileNotFoundError:
            return b""
        return content[: self._sizes.get(name)] if name not in (_JOURNAL, _DESK) else content


def _put_work(archive: Archive, session_id: str, one: Fields) -> None:
    known = {"worktree": one.get("worktree"), "pid": one.get("pid")}
    number = touch_session(archive, session_id, int(one.get("seen_at", 0)), **known)
    told = {"workItem": one.get("work_item"), "branch": one.get("branch"), "commit": one.get("commit")}
    change_work(archive, number, {name: value for name, value in told.items() if value})


def _put_cursor(archive: Archive, path: str, one: Fields) -> None:
    session = touch_session(archive, one["session_id"], 0)
    move_cursor(archive, Cursor(path, session, one["agent"], one["offset"], one["inode"], None))


def _put_note(archive: Archive, note: Fields) -> None:
    owner = note.get("session_id")
    session = touch_session(archive, owner, 0) if owner else None
    insert = "INSERT INTO note (session, kind, text, at, done_at) VALUES (?, ?, ?, ?, ?)"
    archive.run(insert, session, note["kind"], note["text"], note["at"], note.get("done_at"))


def _put_save(archive: Archive, path: str, one: Fields) -> None:
    archive.run("INSERT OR REPLACE INTO saved VALUES (?, ?, ?, ?)", path, one["at"], one["trigger"], one["git"])

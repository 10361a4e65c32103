"""claude-flow's archive of transcripts: `.claude-flow/data/transcript-archive.db`, or `.json` where it had no SQLite.

An entry is a turn as text: the prompt and the last answer in one, of which nobody can tell for certain where one ends.
So it is kept as it stands, in a session of its own, and is nobody's word. Both files give the same steps. The
embeddings beside the entries are hashes, in which nothing can be found, and are left out.
"""

from __future__ import annotations

from unified_state.errors import ForeignFileError
from unified_state.lib.foreign_values import clean_text, json_of, original, time_of
from unified_state.memory.secrets.rules.mask import hide_private
from unified_state.model.history_records import StoredSession, StoredStep
from unified_state.model.step import TEXT
from unified_state.upkeep.exchange.formats.foreign_database import ForeignDatabase
from unified_state.upkeep.exchange.formats.json_list import list_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from unified_state.model.history_records import HistoryRecord

PROGRAM = "claude-flow"
TABLE = "transcript_entries"
_COLUMNS = ("id", "content", "metadata", "created_at", "session_id")
# The database has the fields of an entry in columns; what it repeats out of the metadata is left out.
_FIELDS = {
    "id": "id",
    "key": "key",
    "content": "content",
    "type": "type",
    "namespace": "namespace",
    "tags": "tags",
    "metadata": "metadata",
    "access_level": "accessLevel",
    "created_at": "createdAt",
    "updated_at": "updatedAt",
    "version": "version",
    "access_count": "accessCount",
    "last_accessed_at": "lastAccessedAt",
    "confidence": "confidence",
}
_REPEATED = frozenset({"content_hash", "session_id", "chunk_index", "summary", "embedding"})
_SHOWN = frozenset({"id", "content", "createdAt", "references", "_embedding"})


def read_database(path: str) -> Iterator[HistoryRecord]:
    """What `transcript-archive.db` holds. Raises ForeignFileError."""
    with ForeignDatabase(path) as database:
        database.require(TABLE, _COLUMNS, PROGRAM)
        yield from _records(map(_entry, database.rows("SELECT * FROM transcript_entries ORDER BY rowid")))


def read_json(path: str) -> Iterator[HistoryRecord]:
    """What `transcript-archive.json` holds. Raises ForeignFileError."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            yield from _records(entry for entry in list_values(file) if isinstance(entry, dict))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise ForeignFileError(message, "name a file that you may read") from error
    except (ValueError, RecursionError) as error:
        message = f"{path} is damaged: {error}"
        raise ForeignFileError(message, "it ends in the middle, or was changed; import a backup of it") from error


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the entry that was stored in it."""
    entry = {_FIELDS.get(name, name): value for name, value in row.items() if name not in _REPEATED}
    return {**entry, "tags": json_of(row.get("tags"), []), "metadata": json_of(row.get("metadata"), {})}


def _records(entries: Iterable[Mapping[str, Any]]) -> Iterator[HistoryRecord]:
    known: set[str] = set()
    for entry in entries:
        name, text = clean_text(entry.get("id")), hide_private(clean_text(entry.get("content")))
        if not name or not text.strip():
            continue
        metadata = json_of(entry.get("metadata"), {})
        session = f"{PROGRAM}:{clean_text(metadata.get('sessionId')) or 'unknown'}"
        at = time_of(entry.get("createdAt"))
        if session not in known:
            known.add(session)
            yield StoredSession(session, started_at=at, seen_at=at)
        yield StoredStep(
            session_id=session,
            uuid=f"{PROGRAM}:{name}",
            block=0,
            kind=TEXT,
            at=at,
            text=text,
            starts_turn=True,
            unknown=original({**entry, "metadata": metadata}, _SHOWN),
        )

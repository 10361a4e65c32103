"""claude-flow's archive of transcripts: `.claude-flow/data/transcript-archive.db`, or `.json` without SQLite.

An entry is a turn as one text: the prompt and the last answer, without a certain border. So the text is imported
unchanged, in a separate session, and does not count as the user's word. Both files give the same steps. The embeddings
next to the entries are hashes of the text without meaning, so they are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from unified_state.lib.foreign_values import clean_text, json_of, time_of
from unified_state.lib.record import camel_case
from unified_state.model.history_records import HistoryRecord, StoredSession, StoredStep
from unified_state.model.step import TEXT
from unified_state.secrets.rules.mask import hide_private
from unified_state.upkeep.exchange.foreign_files import foreign_database

NAME, PROGRAM = "claude-flow database", "claude-flow"
TABLE = "transcript_entries"
_COLUMNS = ("id", "content", "metadata", "created_at", "session_id")


def read_database(path: str, _project: str = "") -> Iterator[HistoryRecord]:
    """Return the records in `transcript-archive.db`. Raises ForeignFileError."""
    with foreign_database(path) as database:
        database.require(TABLE, _COLUMNS, PROGRAM)
        rows = database.rows(f"SELECT * FROM {TABLE} ORDER BY rowid")
        yield from records_of({camel_case(name): value for name, value in row.items()} for row in rows)


def records_of(entries: Iterable[dict[str, Any]]) -> Iterator[HistoryRecord]:
    """Yield the records of some entries."""
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
        )

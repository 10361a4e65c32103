"""claude-mem's database `~/.claude-mem/claude-mem.db`: a model's notes on each session, for all projects.

The import reads the sessions of one project. Their prompts, tool calls, observations and summaries become steps in
separate sessions. A model wrote all of it, or the opposite cannot be proved, so it does not count as the user's word.
Databases before its migration 17 have other columns, and are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from operator import attrgetter
from typing import Any

from unified_state.errors import ForeignFileError
from unified_state.lib.foreign_values import clean_text, texts_of, time_of
from unified_state.lib.text import cut, one_line
from unified_state.model.history_records import HistoryRecord, StoredSession, StoredStep
from unified_state.model.step import NOTICE, TEXT, TOOL_CALL, TOOL_RESULT
from unified_state.upkeep.exchange.foreign_files import ForeignDatabase, foreign_database

Row = dict[str, Any]

NAME, PROGRAM = "claude-mem database", "claude-mem"
TABLE = "sdk_sessions"
_CONTENT, _MEMORY = "content_session_id", "memory_session_id"
_MOST_NAMED = 10  # projects named in a message
_SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def _observation(row: Row) -> str:
    parts = [clean_text(row.get(name)) for name in ("title", "subtitle", "narrative", "text")]
    return "\n".join(filter(None, [*parts, *(f"- {fact}" for fact in texts_of(row.get("facts")))]))


def _summary(row: Row) -> str:
    parts = [(name, clean_text(row.get(name))) for name in _SUMMARY_PARTS]
    return "\n".join(f"{name.replace('_', ' ')}: {part}" for name, part in parts if part)


def _column(name: str) -> Callable[[Row], str]:
    return lambda row: clean_text(row.get(name))


# Name for the steps of a table, the table, the kind of the steps, and a function for their text.
_STREAMS: tuple[tuple[str, str, str, Callable[[Row], str]], ...] = (
    ("prompt", "user_prompts", NOTICE, _column("prompt_text")),
    ("tool", "tool_uses", TOOL_CALL, _column("tool_input")),
    ("observation", "observations", TEXT, _observation),
    ("summary", "session_summaries", TEXT, _summary),
)


def read_database(path: str, project: str) -> Iterator[HistoryRecord]:
    """Yield the records of a project: sessions, then steps by their time. Raises ForeignFileError."""
    with foreign_database(path) as database:
        reader = _Reader(database, project)
        reader.check(path)
        yield from reader.sessions()
        streams = [reader.steps(*stream) for stream in _STREAMS]
        yield from (step for step in merge(*streams, key=attrgetter("at")) if step.text.strip())


class _Reader:
    def __init__(self, database: ForeignDatabase, project: str) -> None:
        self._database, self._project = database, project
        self._sessions: dict[str, str] = {}

    def check(self, path: str) -> None:
        """Raise ForeignFileError unless the tables can be read and contain the project."""
        self._database.require(TABLE, (_CONTENT, _MEMORY, "project", "started_at_epoch"), PROGRAM)
        self._database.require("observations", (_MEMORY, "project", "type", "created_at_epoch"), PROGRAM)
        found = [
            clean_text(row["project"])
            for table in (TABLE, "observations")
            for row in self._database.rows(f"SELECT DISTINCT project FROM {table} ORDER BY 1")
        ]
        names = list(dict.fromkeys(filter(None, found)))
        if self._project not in names:
            named = ", ".join(one_line(cut(name, 40)) for name in names[:_MOST_NAMED]) or "none"
            message = f"{path} holds nothing of a project {self._project!r}; its projects: {named}"
            raise ForeignFileError(message, "name one with --project")

    def sessions(self) -> Iterator[StoredSession]:
        """Yield the sessions of the project, and those with observations of it."""
        for row in self._database.rows(
            f"SELECT * FROM {TABLE} WHERE project = ?1 OR {_MEMORY} IN "
            f"(SELECT {_MEMORY} FROM observations WHERE project = ?1) ORDER BY started_at_epoch, id",
            self._project,
        ):
            started, ended = time_of(row.get("started_at_epoch")), time_of(row.get("completed_at_epoch"))
            session = f"{PROGRAM}:{clean_text(row.get('content_session_id')) or 'unknown'}"
            self._sessions[clean_text(row.get("memory_session_id"))] = session
            yield StoredSession(session, started_at=started, seen_at=ended or started, ended_at=ended or None)

    def steps(self, name: str, table: str, kind: str, text_of: Callable[[Row], str]) -> Iterator[StoredStep]:
        """Yield the rows of a table as steps by their time, or nothing if an old database does not have the table."""
        columns = self._database.columns(table)
        if "created_at_epoch" not in columns:
            return
        where = "project = ?1" + " OR merged_into_project = ?1" * ("merged_into_project" in columns)
        if "project" not in columns:
            where = f"{_CONTENT} IN (SELECT {_CONTENT} FROM {TABLE} WHERE project = ?1)"
        sql = f"SELECT * FROM {table} WHERE {where} ORDER BY created_at_epoch, id"
        for row in self._database.rows(sql, self._project):
            step = self._step(name, kind, row, text_of(row))
            if kind != TOOL_CALL:
                yield step
                continue
            call_id = clean_text(row.get("tool_use_id")) or None
            yield step.replace(tool=clean_text(row.get("tool_name")), tool_use_id=call_id)
            result = clean_text(row.get("tool_response"))
            yield step.replace(kind=TOOL_RESULT, block=1, tool_use_id=call_id, text=result)

    def _step(self, what: str, kind: str, row: Row, text: str) -> StoredStep:
        """Return a row as a step.

        Row numbers are unique only within one database, so the client's session id is part of the uuid. claude-mem's
        own session id changes.
        """
        memory, content = clean_text(row.get("memory_session_id")), clean_text(row.get("content_session_id"))
        session = self._sessions.get(memory) or f"{PROGRAM}:{content or memory or 'unknown'}"
        return StoredStep(
            session_id=session,
            uuid=f"{PROGRAM}:{what}:{session.removeprefix(f'{PROGRAM}:')}:{row.get('id')}",
            block=0,
            kind=kind,
            at=time_of(row.get("created_at_epoch")),
            text=text,
            starts_turn=kind == NOTICE,
        )

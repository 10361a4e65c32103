"""claude-mem's database, `~/.claude-mem/claude-mem.db`: what a model made of each session, for all projects.

Of one project its sessions, the prompts, tool calls, observations and summaries of them as steps, in sessions of their
own, and the rules it was told to hold to as constraints. A model wrote all of it, or nobody can prove otherwise, so it
is nobody's word. Columns of before and after its migration 17 are known.
"""

from __future__ import annotations

from heapq import merge
from operator import attrgetter

from unified_state.errors import ForeignFileError
from unified_state.records.history import StoredItem, StoredSession, StoredStep
from unified_state.records.item import CONSTRAINT
from unified_state.records.origin import INFERRED
from unified_state.records.step import NOTICE, TEXT, TOOL_CALL, TOOL_RESULT
from unified_state.rules.cutting import cut, one_line
from unified_state.rules.timestamps import to_text
from unified_state.sources.foreign_database import ForeignDatabase
from unified_state.sources.foreign_values import clean_text, original, texts_of, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.records.history import HistoryRecord

PROGRAM = "claude-mem"
TABLE = "sdk_sessions"
_MOST_NAMED = 10  # projects, in a message
_SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_OBSERVATION = frozenset({"id", "title", "subtitle", "narrative", "text", "memory_session_id", "created_at_epoch"})
_SUMMARY = frozenset({"id", *_SUMMARY_PARTS, "memory_session_id", "created_at_epoch"})
_PROMPT = frozenset({"id", "prompt_text", "content_session_id", "created_at_epoch"})
_TOOL_USE = frozenset(
    {"id", "tool_name", "tool_input", "tool_response", "tool_use_id", "content_session_id", "created_at_epoch"}
)
_SESSION = frozenset({"id", "content_session_id", "started_at_epoch", "completed_at_epoch", "worker_port"})


def read_database(path: str, project: str) -> Iterator[HistoryRecord]:
    """What the database holds of a project. Raises ForeignFileError."""
    with ForeignDatabase(path) as database:
        yield from _Reader(database, path, project).records()


class _Reader:
    def __init__(self, database: ForeignDatabase, path: str, project: str) -> None:
        self._database = database
        self._project = project
        is_old = "content_session_id" not in database.columns(TABLE)
        self._content, self._memory = (
            ("claude_session_id", "sdk_session_id") if is_old else ("content_session_id", "memory_session_id")
        )
        database.require(TABLE, (self._content, self._memory, "project", "started_at_epoch"), PROGRAM)
        database.require("observations", (self._memory, "project", "type", "created_at_epoch"), PROGRAM)
        self._check_project(path)
        self._sessions: dict[str, str] = {}

    def records(self) -> Iterator[HistoryRecord]:
        """Everything: sessions, then steps by their time, then items."""
        yield from self._read_sessions()
        streams = [self._prompts(), self._tool_uses(), self._observations(), self._summaries()]
        yield from (step for step in merge(*streams, key=attrgetter("at")) if step.text.strip())
        yield from self._directives()

    def _check_project(self, path: str) -> None:
        found = [
            clean_text(row["project"])
            for table in (TABLE, "observations")
            for row in self._database.rows(f"SELECT DISTINCT project FROM {table} ORDER BY 1")
        ]
        names = list(dict.fromkeys(name for name in found if name))
        if self._project not in names:
            named = ", ".join(one_line(cut(name, 40)) for name in names[:_MOST_NAMED]) or "none"
            message = f"{path} holds nothing of a project {self._project!r}; its projects: {named}"
            raise ForeignFileError(message, "name one with --project")

    def _read_sessions(self) -> Iterator[HistoryRecord]:
        rows = self._database.rows(
            f"SELECT * FROM {TABLE} WHERE project = ?1 OR {self._memory} IN "
            f"(SELECT {self._memory} FROM observations WHERE project = ?1) ORDER BY started_at_epoch, id",
            self._project,
        )
        for row in map(self._renamed, rows):
            name = clean_text(row.get("content_session_id"))
            started, ended = time_of(row.get("started_at_epoch")), time_of(row.get("completed_at_epoch"))
            session = f"{PROGRAM}:{name or 'unknown'}"
            self._sessions[clean_text(row.get("memory_session_id"))] = session
            yield StoredSession(
                session,
                started_at=started,
                seen_at=ended or started,
                ended_at=ended or None,
                unknown=original(row, _SESSION),
            )

    def _observations(self) -> Iterator[StoredStep]:
        columns = self._database.columns("observations")
        merged = " OR merged_into_project = ?1" if "merged_into_project" in columns else ""
        where = f"project = ?1{merged}"
        for row in self._in_time("observations", where):
            parts = [clean_text(row.get(name)) for name in ("title", "subtitle", "narrative", "text")]
            facts = [f"- {fact}" for fact in texts_of(row.get("facts"))]
            yield self._step("observation", TEXT, row, "\n".join(filter(None, [*parts, *facts])), _OBSERVATION)

    def _summaries(self) -> Iterator[StoredStep]:
        for row in self._in_time("session_summaries", "project = ?1"):
            parts = [(name, clean_text(row.get(name))) for name in _SUMMARY_PARTS]
            text = "\n".join(f"{name.replace('_', ' ')}: {part}" for name, part in parts if part)
            yield self._step("summary", TEXT, row, text, _SUMMARY)

    def _prompts(self) -> Iterator[StoredStep]:
        where = f"{self._content} IN (SELECT {self._content} FROM {TABLE} WHERE project = ?1)"
        for row in self._in_time("user_prompts", where):
            yield self._step("prompt", NOTICE, row, clean_text(row.get("prompt_text")), _PROMPT)

    def _in_time(self, table: str, where: str) -> Iterator[dict[str, Any]]:
        if "created_at_epoch" not in self._database.columns(table):
            return  # a database from before there was such a table
        rows = self._database.rows(f"SELECT * FROM {table} WHERE {where} ORDER BY created_at_epoch, id", self._project)
        yield from map(self._renamed, rows)

    def _renamed(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row with the column names of today."""
        today = {self._content: "content_session_id", self._memory: "memory_session_id"}
        return {today.get(name, name): value for name, value in row.items()}

    def _tool_uses(self) -> Iterator[StoredStep]:
        for row in self._in_time("tool_uses", "project = ?1"):
            tool = clean_text(row.get("tool_name"))
            call = self._step("tool", TOOL_CALL, row, clean_text(row.get("tool_input")), _TOOL_USE)
            call = call.replace(tool=tool, tool_use_id=clean_text(row.get("tool_use_id")) or None)
            yield call
            yield call.replace(
                kind=TOOL_RESULT, block=1, tool=None, text=clean_text(row.get("tool_response")), unknown={}
            )

    def _step(self, what: str, kind: str, row: dict[str, Any], text: str, shown: frozenset[str]) -> StoredStep:
        """A row as a step. Its number counts within one database only, its session's name everywhere."""
        memory, content = clean_text(row.get("memory_session_id")), clean_text(row.get("content_session_id"))
        session = self._sessions.get(memory) or f"{PROGRAM}:{content or memory or 'unknown'}"
        return StoredStep(
            session_id=session,
            uuid=f"{PROGRAM}:{what}:{memory or content}:{row.get('id')}",
            block=0,
            kind=kind,
            at=time_of(row.get("created_at_epoch")),
            text=text,
            starts_turn=kind == NOTICE,
            unknown=original(row, shown),
        )

    def _directives(self) -> Iterator[HistoryRecord]:
        if not {"content", "status", "project", "created_at_epoch"} <= self._database.columns("directives"):
            return
        rows = self._database.rows(
            "SELECT * FROM directives WHERE status = 'active' AND (project = ?1 OR project IS NULL) ORDER BY id",
            self._project,
        )
        for number, row in enumerate(rows, 1):
            text = clean_text(row["content"])
            if text.strip():
                yield _constraint(number, text, row)


def _constraint(number: int, text: str, row: dict[str, Any]) -> StoredItem:
    from unified_state.sources.foreign_items import foreign_item  # most databases have none

    body = {"constraint": text, "source": PROGRAM, "blocking": False}
    created_at = to_text(time_of(row["created_at_epoch"]))
    item = foreign_item(PROGRAM, CONSTRAINT, body, f"C{number}", created_at)
    return item.replace(origin=INFERRED, unknown=original(row, frozenset({"content", "created_at_epoch"})))

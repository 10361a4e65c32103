"""claude-mem's database, `~/.claude-mem/claude-mem.db`: what a model made of each session, for all projects.

Of one project its sessions, the prompts, tool calls, observations and summaries of them as steps, in sessions of their
own. A model wrote all of it, or nobody can prove otherwise, so it is nobody's word. Columns of before and after its
migration 17 are known; what its versions before 4 kept (`memories`, `overviews`) is not read.
"""

from __future__ import annotations

from heapq import merge
from operator import attrgetter

from unified_state.errors import ForeignFileError
from unified_state.lib.foreign_values import clean_text, original, texts_of, time_of
from unified_state.lib.text import cut, one_line
from unified_state.model.history_records import StoredSession, StoredStep
from unified_state.model.step import NOTICE, TEXT, TOOL_CALL, TOOL_RESULT
from unified_state.upkeep.exchange.formats.foreign_database import ForeignDatabase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.model.history_records import HistoryRecord

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
_SESSION = frozenset(
    {"id", "content_session_id", "started_at_epoch", "completed_at_epoch", "worker_port", "user_prompt"}
)


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
        """Everything: sessions, then steps by their time."""
        yield from self._read_sessions()
        streams = [self._openings(), self._prompts(), self._tool_uses(), self._observations(), self._summaries()]
        yield from (step for step in merge(*streams, key=attrgetter("at")) if step.text.strip())

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
        for row in self._in_time("observations", self._of_project("observations")):
            parts = [clean_text(row.get(name)) for name in ("title", "subtitle", "narrative", "text")]
            facts = [f"- {fact}" for fact in texts_of(row.get("facts"))]
            yield self._step("observation", TEXT, row, "\n".join(filter(None, [*parts, *facts])), _OBSERVATION)

    def _summaries(self) -> Iterator[StoredStep]:
        for row in self._in_time("session_summaries", self._of_project("session_summaries")):
            parts = [(name, clean_text(row.get(name))) for name in _SUMMARY_PARTS]
            text = "\n".join(f"{name.replace('_', ' ')}: {part}" for name, part in parts if part)
            yield self._step("summary", TEXT, row, text, _SUMMARY)

    def _of_project(self, table: str) -> str:
        """The rows of the project, also of one that was merged into it: a worktree that is gone."""
        is_merged = "merged_into_project" in self._database.columns(table)
        return "project = ?1 OR merged_into_project = ?1" if is_merged else "project = ?1"

    def _openings(self) -> Iterator[StoredStep]:
        """The first prompts of sessions from before there was a table of prompts."""
        if "user_prompt" not in self._database.columns(TABLE):
            return
        has_table = self._content in self._database.columns("user_prompts")
        unless = f"AND {self._content} NOT IN (SELECT {self._content} FROM user_prompts)" if has_table else ""
        rows = self._database.rows(
            f"SELECT id, {self._content}, {self._memory}, user_prompt, started_at_epoch AS created_at_epoch "
            f"FROM {TABLE} WHERE project = ?1 {unless} ORDER BY started_at_epoch, id",
            self._project,
        )
        for row in map(self._renamed, rows):
            yield self._step("opening", NOTICE, row, clean_text(row.get("user_prompt")), frozenset(row))

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
        """A row as a step. Its number counts within one database only, the client's name of its session everywhere, and
        for ever: claude-mem's own one changes.
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
            unknown=original(row, shown),
        )

"""UnifiedStateManager, the Python API: the state of one worktree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from unified_state.errors import UsageError
from unified_state.ledger.correct_item import close
from unified_state.ledger.item_table import PROPOSED, list_items
from unified_state.ledger.rules.short_item import short_form
from unified_state.lib.files import FileLock
from unified_state.lib.record import Limits
from unified_state.lib.times import current_time, is_past, to_milliseconds
from unified_state.model.checked_calls import CheckedCalls, checked
from unified_state.model.item import (
    ATTEMPT,
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    QUESTION,
    Attempt,
    Constraint,
    Decision,
    Entry,
    Evidence,
    OpenQuestion,
)
from unified_state.model.refs import ITEM, kind_of
from unified_state.model.scope import enforcement_of
from unified_state.model.session_state import Progress, State, WorkItem
from unified_state.model.step import Hit
from unified_state.project.workspace.workspace import Workspace, open_workspace
from unified_state.state_file.item_editor import ItemEditor
from unified_state.state_file.writer.correct_state import correct
from unified_state.state_file.writer.record_state import add_item
from unified_state.state_file.writer.save_state import change_work_item, load, save
from unified_state.upkeep.around_use import CATCH_UP_AND_SETTLE

Listed = Literal["active", "proposed", "superseded", "resolved", "all"]
Kind = TypeVar("Kind", Decision, Constraint, OpenQuestion, Evidence, Attempt)


@checked
def program_workspace(project_dir: str | os.PathLike[str] | None, session_id: str | None) -> Workspace:
    """Return the workspace of a program, for the given folder or the current one. Problems are reported as warnings."""
    import warnings

    FileLock.uses_filelock = True
    if project_dir is not None and not os.path.isdir(project_dir):
        message = f"project_dir is {os.fspath(project_dir)!r}"
        raise UsageError(message, "name a folder that exists")

    def warn(line: str) -> None:
        warnings.warn(line, stacklevel=2)

    return open_workspace(os.path.abspath(project_dir or "."), session_id, report=warn, around_use=CATCH_UP_AND_SETTLE)


class StateReader(CheckedCalls):
    """The methods of `UnifiedStateManager` that read."""

    _workspace: Workspace

    def load_state(self) -> State | None:
        """Return the current state, also what has no room in the state file, which is updated. None if nothing was
        ever recorded.
        """
        if self._workspace.is_empty and not os.path.exists(self._workspace.place.state_path):
            return None
        return load(self._workspace)

    def state_age(self) -> float | None:
        """Return the minutes since the state was last saved; None if it never was, or at a time still to come."""
        state, now = self.load_state(), current_time()
        saved = to_milliseconds(state.timestamp) if state else None
        return max(0, now - saved) / 60_000 if saved is not None and is_past(saved, now) else None

    def is_state_recent(self, max_age_minutes: float | None = None) -> bool:
        """Return whether the state was saved recently (default: within the setting `recent_minutes`)."""
        age = self.state_age()
        most = self._workspace.settings.recent_minutes if max_age_minutes is None else max_age_minutes
        return age is not None and age <= most

    def list_decisions(self, status: Listed = "active") -> list[Decision]:
        """Return the decisions in a status ("active", "proposed", "superseded", "resolved", "all"), oldest first."""
        return self._list(DECISION, Decision, status)

    def list_constraints(self, status: Listed = "active") -> list[Constraint]:
        """Return the constraints in a status; a lifted one is "resolved"."""
        return self._list(CONSTRAINT, Constraint, status)

    def list_questions(self, status: Listed = "active") -> list[OpenQuestion]:
        """Return the questions in a status; an open one is "active"."""
        return self._list(QUESTION, OpenQuestion, status)

    def list_evidence(self, status: Listed = "active") -> list[Evidence]:
        """Return the evidence in a status; an error is "resolved" once the same call succeeds."""
        return self._list(EVIDENCE, Evidence, status)

    def list_attempts(self, status: Listed = "active") -> list[Attempt]:
        """Return the failed attempts in a status."""
        return self._list(ATTEMPT, Attempt, status)

    def list_proposals(self) -> list[Entry]:
        """Return all that waits for the user, who decides with `unified-state inbox`."""
        return self._entries(None, (PROPOSED,))

    def search(
        self,
        query: str,
        limit: Annotated[int, Limits(ge=1)] = 10,
        *,
        session_id: str | None = None,
        since: str | None = None,
        tool: str | None = None,
        file: str | None = None,
        kind: Literal[
            "prompt",
            "text",
            "thinking",
            "tool_call",
            "tool_result",
            "tool_file",
            "attachment",
            "notice",
            "decision",
            "constraint",
            "question",
            "evidence",
            "attempt",
        ]
        | None = None,
    ) -> list[Hit]:
        """Search all that was said, done and recorded here, the best hit first. The filters are those of the command
        `search`.
        """
        from unified_state.search.find import SearchRequest, find  # not needed to record

        if self._workspace.is_empty:
            return []
        return find(self._workspace, SearchRequest(query, limit, session_id, since, tool, file, kind), current_time())

    def show(self, id: str) -> dict[str, Any]:  # noqa: A002  # its name everywhere
        """Return what an id names, whole: an item (`D7`), a turn (`T41`), a step (`S1234`), a compaction (`K2`)."""
        from unified_state.search.find import recall_and_note

        return recall_and_note(self._workspace, id, current_time())

    def restore_text(self, budget: Annotated[int, Limits(ge=1)] | None = None, *, summary: str | None = None) -> str:
        """Return what a session gets back after a compaction, in about `budget` tokens (default: the setting
        `restore_tokens`), without what the `summary` says already. It belongs beside the summary in the next request.
        """
        from unified_state.restore.preview import preview_restore

        return preview_restore(self._workspace, current_time(), summary=summary, tokens=budget).text

    def _list(self, kind: str, entry: type[Kind], status: str) -> list[Kind]:
        found = self._entries(kind, get_args(Listed)[:-1] if status == "all" else (status,))
        return [one for one in found if isinstance(one, entry)]

    def _entries(self, kind: str | None, statuses: Iterable[str]) -> list[Entry]:
        if self._workspace.is_empty:
            return []
        items = self._workspace.use(lambda archive: list_items(archive, kind, statuses))
        return [short_form(item) for item in items]


class PastReader(CheckedCalls):
    """The methods of `UnifiedStateManager` that read earlier states. A point is a compaction ("K2"), a turn ("T41"), a
    time ("2026-03-14", "3d", "yesterday"), or a commit ("HEAD~3", "1a2b3c4").
    """

    _workspace: Workspace

    def entries_at(self, point: str) -> list[Entry]:
        """Return what held or waited at a point, as it was then, oldest first."""
        from unified_state.search.past.state_at import state_at  # not needed to record

        if self._workspace.is_empty:
            return []
        repository = self._workspace.place.repository
        found = self._workspace.use(lambda archive: state_at(archive, repository, point, current_time()))
        return [short_form(item) for item in found.items]

    def history(self, id: str, last: str | None = None) -> list[dict[str, Any]]:  # noqa: A002  # its name everywhere
        """Return what became of an item and of those that it replaced: when, by whom, in which turn. For a point: what
        was decided, answered, lifted, superseded or closed until another one, or until now. The oldest comes first.
        """
        from unified_state.search.past.state_at import changes_between, history_of

        if self._workspace.is_empty:
            return []
        if kind_of(id) == ITEM:
            events = self._workspace.use(lambda archive: history_of(archive, id))
            return [event.as_json("turn", "quote") for event in events]
        repository = self._workspace.place.repository
        found = self._workspace.use(lambda archive: changes_between(archive, repository, id, last, current_time()))
        return [event.as_json() for event in found.events]


class UnifiedStateManager(StateReader, PastReader, ItemEditor):
    """Decisions, constraints, questions, evidence, attempts and work item of a project, kept across sessions and
    compactions.

    Every method is durable when it returns, safe beside other processes, and returns the entry with its id (`D7`).
    Entries recorded by a program are `inferred`; only the user's own statements are binding. Raises `UnifiedStateError`
    with the problem, its place and the remedy. Nothing has to be closed, also without `with`.

    >>> UnifiedStateManager().add_decision("Use SQLite", "one file, no server").id
    'D1'
    """

    def __init__(
        self,
        project_dir: str | os.PathLike[str] | None = None,
        session_id: str | None = None,
        *,
        workspace: Workspace | None = None,
    ) -> None:
        """Manage the state of the repository that contains `project_dir` (default: the current folder).

        `session_id` defaults to the client session that started this process. `workspace` is internal: then the caller
        checks the arguments.
        """
        self._workspace = workspace or program_workspace(project_dir, session_id)
        self._is_checked = workspace is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Close nothing: no file is open between two calls."""

    def add_decision(self, decision: str, rationale: str = "", reversible: bool = True) -> Decision:
        """Record a decision and its rationale. An irreversible decision stays in the state file longest."""
        return _as(Decision, add_item(self._workspace, DECISION, _decision(decision, rationale, reversible)))

    def supersede_decision(
        self,
        id: str,  # noqa: A002  # its name everywhere
        decision: str,
        rationale: str = "",
        reversible: bool = True,
    ) -> Decision:
        """Record a decision that supersedes an earlier one."""
        body = _decision(decision, rationale, reversible)
        return _as(Decision, add_item(self._workspace, DECISION, body, supersedes=id))

    def add_constraint(
        self,
        constraint: str,
        source: str = "",
        blocking: bool = False,
        *,
        scope: Mapping[str, Sequence[str]] | None = None,
        mode: Literal["warn", "ask", "deny"] | None = None,
    ) -> Constraint:
        """Record a constraint on the work. A blocking constraint never leaves the state file.

        With a `scope` (patterns by kind: `commands`, `paths`, `tools`) a hook enforces it before each tool call, by
        default with "ask". "deny" needs the user's own statement: an inferred constraint asks at most.
        """
        body: dict[str, object] = {"constraint": constraint, "source": source, "blocking": blocking}
        return _as(Constraint, add_item(self._workspace, CONSTRAINT, body | enforcement_of(scope, mode)))

    def add_open_question(
        self, question: str, context: str = "", priority: Literal["high", "medium", "low"] = "medium"
    ) -> OpenQuestion:
        """Record an open question."""
        body = {"question": question, "context": context, "priority": priority}
        return _as(OpenQuestion, add_item(self._workspace, QUESTION, body))

    def resolve_question(self, id: str, resolution: str) -> OpenQuestion:  # noqa: A002  # its name everywhere
        """Close an open question with its resolution."""
        return _as(OpenQuestion, correct(self._workspace, close, id, resolution, kind=QUESTION))

    def add_evidence(
        self,
        type: Literal["error", "command", "output", "observation", "commit", "pull_request"],  # noqa: A002  # on disk
        content: str,
        source: str = "",
    ) -> Evidence:
        """Record verbatim text: an error, a command, an output or an observation. The archive stores the full text."""
        body = {"type": type, "content": content, "source": source}
        return _as(Evidence, add_item(self._workspace, EVIDENCE, body))

    def add_attempt(self, attempt: str, outcome: str = "") -> Attempt:
        """Record what was tried and how it failed, so that it is not tried again."""
        return _as(Attempt, add_item(self._workspace, ATTEMPT, {"attempt": attempt, "outcome": outcome}))

    def set_work_item(
        self,
        id: str | None = None,  # noqa: A002  # the name on disk
        title: str | None = None,
        phase: str | None = None,
        progress: Progress | None = None,
        *,
        goal: str | None = None,
        verified: Sequence[str] | None = None,
    ) -> WorkItem:
        """Set the work item of this session. Arguments that are None stay unchanged. `progress` ranges from 0 to 1.
        `verified` are the ids of evidence that shows what is done; they are added to those before.
        """
        given = {"id": id, "title": title, "phase": phase, "progress": progress, "goal": goal, "verified": verified}
        changes = {name: value for name, value in given.items() if value is not None}
        return WorkItem.from_disk(change_work_item(self._workspace, changes))

    def set_phase(self, phase: str) -> WorkItem:
        """Set the phase of this session's work item."""
        return self.set_work_item(phase=phase)

    def save_state(
        self,
        trigger: Literal["precompact", "manual", "checkpoint", "threshold"] = "manual",
        *,
        highlights: Sequence[str] = (),
        actions: Sequence[str] | None = None,
    ) -> State:
        """Save the state with the current git state. `highlights` are added; `actions`, if given, replace the open
        actions.
        """
        return save(self._workspace, trigger, highlights, actions)


def _decision(decision: str, rationale: str, reversible: bool) -> dict[str, object]:
    return {"decision": decision, "rationale": rationale, "reversible": reversible}


def _as(kind: type[Kind], entry: object) -> Kind:
    assert isinstance(entry, kind)  # noqa: S101  # the kind of the item gives its class
    return entry

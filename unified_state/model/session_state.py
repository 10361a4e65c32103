"""The state of the work: the content of the state file `.claude/unified-session-state.json`.

The sections and their names on disk are those of the seed's schema 2.0.0, with `workItem` in place of `sd`, and a
record for every live session. The file is a projection of the ledger: it can be rebuilt from the archive at any time.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from unified_state.lib.record import Limits, Record, Time
from unified_state.model.item import Attempt, Constraint, Decision, Evidence, OpenQuestion

STATE_VERSION = "3.2.0"
Progress = Annotated[float, Limits(ge=0, le=1)]
TRIGGERS = ("precompact", "manual", "checkpoint", "threshold")


class GitState(Record):
    """The git state of a worktree. Lists are bounded; `changed_count` is the total of changed and untracked paths.

    `branch` is None on a detached HEAD, `commit` before the first commit. `status` has lines as `git status --short`
    prints them (`M file`, `?? file`), conflicts first, control characters escaped. `modified_files` are the paths of
    the same entries, unescaped. No filter is run, so a file under one (Git LFS) counts as changed if git looks into it.
    `staged_changes` is the one line of `git diff --cached --shortstat`. `operation` is a merge, rebase, am,
    cherry-pick, revert or bisect in progress. `error` is git's error or a timeout; the other fields stay valid.
    """

    branch: str | None = None
    commit: str | None = None
    status: str = ""
    recent_commits: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()
    staged_changes: str = ""
    changed_count: int = 0
    operation: str | None = None
    error: str | None = None
    unknown: dict[str, Any] = {}


class WorkItem(Record):
    """The current work item (a ticket, an issue, a task): its goal, its phase, its progress from 0 to 1, and the ids of
    the evidence that shows what of it is verified.
    """

    id: str | None = None
    title: str | None = None
    goal: str | None = None
    phase: str | None = None
    progress: Progress | None = None
    verified: tuple[str, ...] | None = None
    unknown: dict[str, Any] = {}


class Workflow(Record):
    """The state of the workflow: its phase, the time of the last handoff, the number of tool calls in the session."""

    current_phase: str | None = None
    last_handoff: str | None = None
    tool_executions: int = 0
    unknown: dict[str, Any] = {}


class Summaries(Record):
    """Short notes: highlights of the context, the newest decisions in a line each, pending actions.

    `list` also prints the notes of earlier sessions.
    """

    context_highlights: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()
    pending_actions: tuple[str, ...] = ()
    unknown: dict[str, Any] = {}


class Note(Record):
    """A to-do (a pending action) or a highlight, with its id."""

    id: str
    kind: Literal["todo", "note"]
    text: str
    timestamp: Time
    done: bool = False


class TokenMetrics(Record):
    """The size of the file in tokens, estimated or counted; the time when entries last left it for the archive, and the
    command that prints all of the state.
    """

    estimated_tokens: int = 0
    budget_status: Literal["healthy", "warning", "over_budget"] = "healthy"
    last_truncation: Time | None = None
    whole: str = "unified-state list --json"
    unknown: dict[str, Any] = {}


class SessionRecord(Record):
    """The work of one live session, beside the others of the same worktree."""

    updated_at: Time
    work_item: WorkItem | None = None
    highlights: tuple[str, ...] = ()
    pending_actions: tuple[str, ...] = ()
    branch: str | None = None
    commit: str | None = None
    unknown: dict[str, Any] = {}


class State(Record):
    """The whole state file.

    `trigger` last saved it with its git state at `timestamp`. Adding an item changes neither.
    """

    version: str
    timestamp: Time
    trigger: Literal["precompact", "manual", "checkpoint", "threshold"]
    repository: str | None = None
    updated_at: Time | None = None
    git: GitState = GitState()
    work_item: WorkItem = WorkItem()
    workflow: Workflow = Workflow()
    decisions: tuple[Decision, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    evidence_ledger: tuple[Evidence, ...] = ()
    failed_attempts: tuple[Attempt, ...] = ()
    summaries: Summaries = Summaries()
    token_metrics: TokenMetrics = TokenMetrics()
    sessions: dict[str, SessionRecord] = {}
    unknown: dict[str, Any] = {}

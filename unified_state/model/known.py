"""The data from which a restore chooses: a session's turns, its working set, and the parts that a summary kept."""

from __future__ import annotations

from typing import Literal

from unified_state.lib.record import Record
from unified_state.lib.times import age_text
from unified_state.model.item import LedgerItem, Validity
from unified_state.model.session_state import GitState, WorkItem
from unified_state.model.step import Step

Reason = Literal["startup", "resume", "clear", "compact", "fork", "prompt", "subagent"]


class WorkingFile(Record):
    """A file by its path in the repository, with the identifiers seen in it, the most important first.

    `is_used` if a call named it. `gone` says that it is no longer there ("deleted").
    """

    path: str
    words: tuple[str, ...] = ()
    is_used: bool = False
    gone: str = ""


KEPT, MISSING = "kept", "missing"


class ItemVerdict(Record):
    """The verdict on one item in a summary, and the paragraph (`begin` to `end`) that has it."""

    ref: str
    verdict: str
    begin: int = 0
    end: int = 0


class Survival(Record):
    """What one summary kept of the items."""

    items: tuple[ItemVerdict, ...] = ()

    def refs(self, verdict: str) -> tuple[str, ...]:
        """Return the refs of the items with a verdict, in order."""
        return tuple(judged.ref for judged in self.items if judged.verdict == verdict)


RELEVANT = "relevant"  # context for a prompt after a compaction
ELSEWHERE = "elsewhere"  # decisions of other sessions since the last prompt


class Prompt(Record):
    """What the user typed in a turn."""

    turn: int
    at: int
    text: str


class Statement(Record):
    """A text of the agent, or the report of a subagent. `age` counts the tool calls that followed."""

    turn: int
    at: int
    text: str
    age: int = 0
    is_report: bool = False


class Turn(Record):
    """A turn of a session: when it was opened, its steps in order, and how often they were asked for by a search or
    `show`.
    """

    number: int
    at: int
    steps: tuple[Step, ...]
    uses: int = 0


class Run(Record):
    """A shell command of a session: how its last run ended, and the commands in it.

    `age` counts the tool calls that followed. `failing` are the lines that report failures. `checks` tells whether it
    runs tests, a linter or a compiler, `shows` whether it only prints content. `lines` counts those of its output. It
    `goes_on` if it was put in the background and no end was seen.
    """

    command: str
    age: int
    failed: bool = False
    goes_on: bool = False
    last: str = ""
    failing: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()
    checks: bool = False
    shows: bool = False
    lines: int = 0


class RecentWork(Record):
    """The recent part of a session, the newest first: texts, runs, edited files, and commits, the last two with their
    ages in tool calls. `pushed` is the age of the last push. `without_result` are the commands that have no result.
    """

    texts: tuple[Statement, ...] = ()
    runs: tuple[Run, ...] = ()
    edits: tuple[tuple[str, int], ...] = ()
    commits: tuple[tuple[str, int], ...] = ()
    pushed: int | None = None
    without_result: tuple[str, ...] = ()


class RestoreInput(Record):
    """All data from which a restore chooses.

    `reason` is the client's SessionStart source, `prompt` for a late delivery, or `subagent` for a restore to a task.
    `validities` are those of the items with a problem, by UUID. `handed_over` names the session of another host that a
    new session continues.
    """

    reason: Reason
    now: int
    saved_at: int | None = None
    compaction: int | None = None
    summary: str | None = None
    git: GitState | None = None
    git_is_current: bool = False  # read now, not when the state was saved
    work_item: WorkItem | None = None
    items: tuple[LedgerItem, ...] = ()
    global_items: tuple[LedgerItem, ...] = ()  # the user's, for all projects
    elsewhere: int = 0  # number of active items that are not in the state file
    paged_out: tuple[str, ...] = ()  # the refs of those among them that were not captured
    highlights: tuple[str, ...] = ()
    pending_actions: tuple[str, ...] = ()
    prompts: tuple[Prompt, ...] = ()  # what the user typed, the oldest first
    turns: tuple[Turn, ...] = ()  # the newest, in order
    recent: RecentWork = RecentWork()
    working_set: tuple[WorkingFile, ...] = ()
    turn_count: int = 0
    last_turn_at: int | None = None
    health: str | None = None
    survival: Survival | None = None
    validities: dict[str, Validity] = {}
    handed_over: str = ""
    ran_in: str = ""  # the other worktree of the session before

    def age(self, at: int) -> str:
        """Return the age of a time for display, or the mark that stands for it."""
        return age_text(self.now, at)


class Composition(Record):
    """The texts of a restore by part. An empty one is not printed."""

    brief: str = ""
    working_set: str = ""

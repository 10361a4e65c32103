"""What is known when a session is given its memory back, before it is chosen and put into words."""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.model.item import LedgerItem, Validity
from unified_state.model.session_state import GitState, WorkItem
from unified_state.model.survival_verdicts import Survival
from unified_state.model.working_set_entries import WorkingSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Reason = Literal["startup", "resume", "clear", "compact", "fork", "prompt", "subagent"]

BRIEF, WORKING_SET = "brief", "working_set"
PARTS = (BRIEF, WORKING_SET)
RELEVANT = "relevant"  # what a prompt after a compaction is about
TRIED = "tried"  # what was tried before on the files that a prompt names
ELSEWHERE = "elsewhere"  # what other sessions decided since the last prompt


class TurnOutline(Record):
    """A turn in short: what was asked, what was done, what was said last, and how many tool results were errors."""

    number: int
    at: int
    prompt: str
    actions: tuple[str, ...] = ()
    tool_calls: int = 0
    errors: int = 0
    answer: str = ""


class Known(Record):
    """All that a restore chooses from. `reason` is the client's SessionStart source, `prompt` for a late
    delivery, or `subagent` for what fits a task. `validities` are those of the items that are not simply valid, by
    UUID; `ahead` names the items that know more than the conversation or the worktree.
    """

    reason: Reason
    now: int
    saved_at: int | None = None
    compaction: int | None = None
    summary: str | None = None
    git: GitState | None = None
    work_item: WorkItem | None = None
    items: tuple[LedgerItem, ...] = ()
    elsewhere: int = 0  # items that are active and not in the state file
    paged_out: tuple[str, ...] = ()  # the refs of those among them that somebody stated
    highlights: tuple[str, ...] = ()
    pending_actions: tuple[str, ...] = ()
    turns: tuple[TurnOutline, ...] = ()
    working_set: WorkingSet | None = None
    turn_count: int = 0
    last_turn_at: int | None = None
    health: str | None = None
    survival: Survival | None = None
    validities: dict[str, Validity] = {}
    ahead: tuple[str, ...] = ()


class Composition(Record):
    """The texts of a restore by part; an empty one is not printed."""

    brief: str = ""
    working_set: str = ""

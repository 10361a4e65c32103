"""What a restore knows of a session and chooses from: its turns, its working set, and what a summary kept."""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.model.item import LedgerItem, Validity
from unified_state.model.session_state import GitState, WorkItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Reason = Literal["startup", "resume", "clear", "compact", "fork", "prompt", "subagent"]

Scored = tuple[str, float]
FILE, COMMAND, PROGRAM, REFERENCE, ERROR = "file", "command", "program", "reference", "error"  # of a working set
NO_FILE = ""  # the name of the entry for identifiers that were seen in no file


class WorkingFile(Record):
    """A file as the repository names it, with the identifiers that were seen in it, the weightiest first.

    `hot` is the part of its score that comes from edits.
    """

    path: str
    score: float
    hot: float
    words: tuple[Scored, ...] = ()


class RanCommand(Record):
    """A command of the shell and how it ended last: whether it failed, its last line (None where nothing is known of
    its end), the lines that tell of failures.
    """

    command: str
    score: float
    failed: bool = False
    last: str | None = None
    failing: tuple[str, ...] = ()


class WorkingSet(Record):
    """The top of a session's working set, each list in the order of its scores."""

    files: tuple[WorkingFile, ...] = ()
    words: tuple[Scored, ...] = ()  # identifiers that were seen outside of files
    commands: tuple[RanCommand, ...] = ()
    programs: tuple[Scored, ...] = ()  # by their first two words: `go test`, `git log`
    references: tuple[Scored, ...] = ()
    errors: tuple[Scored, ...] = ()


KEPT, MISSING, DISTORTED = "kept", "missing", "distorted"
BARE = "bare"  # kept without its reason
STALE = "stale"  # of a superseded item: the summary tells it as if it still held


class Judged(Record):
    """One item beside a summary: the verdict, and where in the summary it is spoken of (`begin` to `end`)."""

    ref: str
    verdict: str
    begin: int = 0
    end: int = 0


class Named(Record):
    """How many entries of one kind the working set has, and how many of them a summary names."""

    kind: str
    total: int
    named: int


class Survival(Record):
    """The items and the entries of the working set that one summary kept."""

    items: tuple[Judged, ...] = ()
    working_set: tuple[Named, ...] = ()

    def refs(self, *verdicts: str) -> tuple[str, ...]:
        """The items with one of these verdicts, in their order."""
        return tuple(judged.ref for judged in self.items if judged.verdict in verdicts)


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
    """Everything that a restore chooses from. `reason` is the client's SessionStart source, `prompt` for a late
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

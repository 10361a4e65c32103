"""The kinds of state items: decisions, constraints, open questions, evidence, failed attempts.

`ITEM_KINDS` has a row for each kind. The state file shows the short form (the classes below). The ledger keeps a
`LedgerItem` for each: the same body, and who said it, where it comes from and what became of it. An item is known by
its UUID; its alias (`D7`) is the repository's short name, given once.
"""

from __future__ import annotations

from unified_state.lib.record import Record, camel_case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

DECISION, CONSTRAINT, QUESTION, EVIDENCE = "decision", "constraint", "question", "evidence"
ATTEMPT = "attempt"
STATUSES = ("active", "proposed", "superseded", "resolved", "dismissed")
PRIORITIES = ("high", "medium", "low")
EVIDENCE_TYPES = ("error", "command", "output", "observation", "commit", "pull_request")


class Decision(Record):
    """A decision and its reason; an irreversible one stays in the state file longest."""

    id: str
    decision: str
    rationale: str
    timestamp: str
    reversible: bool = True
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded"] | None = None
    unknown: dict[str, Any] = {}


class Scope(Record):
    """The tool calls that an executable constraint covers, by patterns: one of each kind that is given has to match."""

    commands: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    unknown: dict[str, Any] = {}


class Constraint(Record):
    """A limit on the work; a blocking one never leaves the state file. A hook enforces one with a scope."""

    id: str
    constraint: str
    source: str
    timestamp: str
    blocking: bool = False
    scope: Scope | None = None
    mode: Literal["warn", "ask", "deny"] | None = None
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded", "resolved"] | None = None
    unknown: dict[str, Any] = {}


class OpenQuestion(Record):
    """A question that is open until it is resolved."""

    id: str
    question: str
    context: str
    timestamp: str
    priority: Literal["high", "medium", "low"] = "medium"
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "resolved"] | None = None
    resolved: bool = False
    resolution: str | None = None
    resolved_at: str | None = None
    unknown: dict[str, Any] = {}


class Evidence(Record):
    """Verbatim text: an error, a command, an output, an observation, a commit; cut where it is long, and whole in the
    archive. An error is resolved when what failed passed later on.
    """

    id: str
    type: Literal["error", "command", "output", "observation", "commit", "pull_request"]
    content: str
    source: str
    timestamp: str
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded", "resolved"] | None = None
    unknown: dict[str, Any] = {}


class Attempt(Record):
    """An attempt and how it failed, so that nobody repeats it; resolved once it passes."""

    id: str
    attempt: str
    outcome: str
    timestamp: str
    files: tuple[str, ...] = ()
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded", "resolved"] | None = None
    unknown: dict[str, Any] = {}


Entry = Decision | Constraint | OpenQuestion | Evidence | Attempt


class ItemKind(Record):
    """One kind of items. `letter` begins its aliases, `section` is its field of the state, `entry` the class of its
    entries there, and `about` its help. In a body, `main` is the field with the main text, `others` holds the further
    fields and their defaults, and `second` names the one that is shown behind the main text, with a label.
    """

    letter: str
    section: str
    entry: type[Entry]
    about: str
    main: str
    others: dict[str, Any]
    second: tuple[str, str]


ITEM_KINDS = {
    DECISION: ItemKind(
        *("D", "decisions", Decision, "decisions and why they were made"),
        *("decision", {"rationale": "", "reversible": True}, ("rationale", "Why")),
    ),
    CONSTRAINT: ItemKind(
        *("C", "constraints", Constraint, "what limits the work"),
        *("constraint", {"source": "", "blocking": False}, ("source", "Source")),
    ),
    QUESTION: ItemKind(
        *("Q", "open_questions", OpenQuestion, "open questions"),
        *("question", {"context": "", "priority": "medium"}, ("context", "Context")),
    ),
    EVIDENCE: ItemKind(
        *("E", "evidence_ledger", Evidence, "verbatim errors, commands and outputs"),
        *("content", {"type": "observation", "source": ""}, ("source", "Source")),
    ),
    ATTEMPT: ItemKind(
        *("A", "failed_attempts", Attempt, "what was tried and failed"),
        *("attempt", {"outcome": ""}, ("outcome", "Outcome")),
    ),
}
ALIAS_LETTERS = {name: kind.letter for name, kind in ITEM_KINDS.items()}
MAIN_FIELDS = {name: kind.main for name, kind in ITEM_KINDS.items()}
OTHER_FIELDS = {name: kind.others for name, kind in ITEM_KINDS.items()}
STATE_SECTIONS = {camel_case(kind.section): name for name, kind in ITEM_KINDS.items()}


class LedgerItem(Record):
    """One item of the ledger.

    `body` holds the fields that are particular to the kind, by their names on disk (a decision: `decision`,
    `rationale`, `reversible`). `files` are the paths it speaks of, relative to the worktree; `source_uuid` is the
    transcript entry it came from, `quote` the words there, as archived, that say it, `quote_hash` the SHA-256 of their
    UTF-8 in hexadecimal digits. `rule` names what captured it, and `capture_key` what was captured, so that it is
    captured once. `compaction` is the number of the compaction from whose summary it was read. `file_hashes` are the
    versions of its files when it was recorded: git blob id, size, time of the last change. `estimate` is its size in
    tokens as the state file shows it, or None as long as nobody has counted.
    """

    uuid: str
    alias: str
    kind: str
    body: dict[str, Any]
    status: str
    origin: str
    created_at: str
    session_id: str | None = None
    source_uuid: str | None = None
    commit: str | None = None
    branch: str | None = None
    files: tuple[str, ...] = ()
    changed_at: str | None = None
    superseded_by: str | None = None
    estimate: int | None = None
    paged_out_at: str | None = None
    quote: str | None = None
    quote_hash: str | None = None
    rule: str | None = None
    capture_key: str | None = None
    compaction: int | None = None
    file_hashes: dict[str, str] = {}


class Validity(Record):
    """How an item stands now. `changed` and `gone` are files it speaks of, `branch` is the other branch it was recorded
    on. It is `behind` where HEAD went back behind its commit, `rewound` where the user took back the part of the
    conversation that it came from.
    """

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    branch: str | None = None
    superseded_by: str | None = None
    contradicts: tuple[str, ...] = ()
    behind: bool = False
    rewound: bool = False


VALID = Validity()


class Fact(Record):
    """One fact for the ledger. `rule` names the rule that found it, `body` holds the fields of its kind, `quote` the
    words of the step, as archived, that say it; `quote` is always a part of that step's text. `replaces` is the subject
    that no two facts of one session and rule are true of at once: the newer one supersedes the older.
    """

    rule: str
    kind: str
    origin: str
    status: str
    body: dict[str, Any]
    quote: str
    files: tuple[str, ...] = ()
    replaces: str = ""


class Todo(Record):
    """One entry of the agent's to-do list: its number or id, its text, its state (`pending`, `in_progress`,
    `completed`, `deleted`); None for an unchanged field.
    """

    key: str
    text: str | None
    state: str | None

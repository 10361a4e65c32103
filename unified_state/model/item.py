"""The kinds of state items: decisions, constraints, open questions, evidence, failed attempts.

`ITEM_KINDS` has a row for each kind. The state file shows the short form (the classes below). The ledger has a
`LedgerItem` for each, with the same body, its origin, its source and its status. An item is identified by its UUID. Its
alias (`D7`) is a short name, unique in the repository.
"""

from __future__ import annotations

from typing import Any, Literal

from unified_state.lib.record import Record, Time, camel_case

DECISION, CONSTRAINT, QUESTION, EVIDENCE = "decision", "constraint", "question", "evidence"
ATTEMPT = "attempt"
STATUSES = ("active", "proposed", "superseded", "resolved", "dismissed")
PRIORITIES = ("high", "medium", "low")
EVIDENCE_TYPES = ("error", "command", "output", "observation", "commit", "pull_request")


class Decision(Record):
    """A decision and its reason. An irreversible one stays in the state file longest."""

    id: str
    decision: str
    rationale: str
    timestamp: Time
    reversible: bool = True
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded"] | None = None
    unknown: dict[str, Any] = {}


class Scope(Record):
    """The tool calls that an enforced constraint covers. One pattern of each given kind must match."""

    commands: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    unknown: dict[str, Any] = {}


class Constraint(Record):
    """A limit on the work. A blocking one never leaves the state file. A hook enforces one with a scope."""

    id: str
    constraint: str
    source: str
    timestamp: Time
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
    timestamp: Time
    priority: Literal["high", "medium", "low"] = "medium"
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded", "resolved"] | None = None
    resolved: bool = False
    resolution: str | None = None
    resolved_at: Time | None = None
    unknown: dict[str, Any] = {}


class Evidence(Record):
    """Verbatim text: an error, a command, an output, an observation, a commit. Long text is cut here, and complete in
    the archive. An error is resolved when the failed call later succeeds.
    """

    id: str
    type: Literal["error", "command", "output", "observation", "commit", "pull_request"]
    content: str
    source: str
    timestamp: Time
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded", "resolved"] | None = None
    unknown: dict[str, Any] = {}


class Attempt(Record):
    """A failed attempt and its outcome, recorded so that it is not repeated. It is resolved once it succeeds."""

    id: str
    attempt: str
    outcome: str
    timestamp: Time
    files: tuple[str, ...] = ()
    origin: Literal["user_said", "observed", "inferred"] = "inferred"
    status: Literal["active", "proposed", "superseded", "resolved"] | None = None
    unknown: dict[str, Any] = {}


Entry = Decision | Constraint | OpenQuestion | Evidence | Attempt


class ItemKind(Record):
    """One kind of items.

    `letter` begins its aliases, `section` is its field of the state, `entry` the class of its entries there, and
    `about` its help. In a body, `main` is the field with the main text, `others` has the further fields and their
    defaults, and `second` names the field that is shown after the main text, with a label.
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

    `body` has the fields of the kind, by their names on disk (a decision: `decision`, `rationale`, `reversible`).
    `files` are the paths it names, relative to the worktree. `source_uuid` is the transcript entry it came from,
    `quote` the archived passage there that states it, and `quote_hash` the SHA-256 of its UTF-8 in hexadecimal digits.
    `rule` names the rule that captured it, and `capture_key` the captured event, so that it is captured once.
    `compaction` is the number of the compaction whose summary named it. `file_hashes` are the versions of its files
    when it was recorded: git blob id, size, modification time.
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
    paged_out_at: str | None = None
    quote: str | None = None
    quote_hash: str | None = None
    rule: str | None = None
    capture_key: str | None = None
    compaction: int | None = None
    file_hashes: dict[str, str] = {}


class Validity(Record):
    """The validity of an item.

    `changed` and `gone` are files it names. `branch` is the other branch on which it was recorded. It is `behind` if
    HEAD went back behind its commit, and `rewound` if the user took back the part of the conversation that it came
    from.
    """

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    branch: str | None = None
    superseded_by: str | None = None
    behind: bool = False
    rewound: bool = False


VALID = Validity()


class Fact(Record):
    """One fact for the ledger.

    `rule` names the rule that found it. `body` has the fields of its kind. `quote` is the passage of the step's
    archived text that states it. `replaces` is a subject on which only one fact per session and rule is valid: the
    newer one supersedes the older. `key` is the capture key, where that is not the fact's place in its step.
    """

    rule: str
    kind: str
    origin: str
    status: str
    body: dict[str, Any]
    quote: str
    files: tuple[str, ...] = ()
    replaces: str = ""
    key: str = ""


class Todo(Record):
    """One entry of the agent's to-do list: its number or id, its text, its state (`pending`, `in_progress`,
    `completed`, `deleted`). An unchanged field is None.
    """

    key: str
    text: str | None
    state: str | None

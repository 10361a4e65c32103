"""The archived parts of a session: steps, grouped into turns, and the compactions between them."""

from __future__ import annotations

from unified_state.lib.record import Record

PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT = "prompt", "text", "thinking", "tool_call", "tool_result"
TOOL_FILE, ATTACHMENT, NOTICE = "tool_file", "attachment", "notice"
# The archive stores the index of a kind, so new kinds are only appended.
KINDS = (PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, TOOL_FILE, ATTACHMENT, NOTICE)
EMBEDDED_CHARACTERS = 24_000  # of a text from which a vector is computed: some 6,000 tokens


class Step(Record):
    """One event of a session: a prompt, a piece of assistant text or thinking, a tool call, its result.

    `uuid` and `block` (the position in the entry's content) identify it permanently. `text` is the whole content, of a
    tool call its input as JSON. A `tool_file` is a long result that the client moved to a separate file. An
    `attachment` is a file that the user mentioned. A `notice` is text of the client in the place of the user or the
    agent (echoes of commands, notifications, skills, errors of the API). `agent` is the subagent that did it. `at` is
    in milliseconds since 1970.
    """

    uuid: str
    block: int
    kind: str
    at: int
    text: str
    tool: str | None = None
    tool_use_id: str | None = None
    is_error: bool = False
    agent: str | None = None
    starts_turn: bool = False


class Boundary(Record):
    """The point at which the client cut the conversation (a compact_boundary entry).

    `kept_from` is the first entry before the boundary that stays in the conversation.
    """

    uuid: str
    at: int
    trigger: str | None = None
    pre_tokens: int | None = None
    kept_from: str | None = None


class Continuation(Record):
    """The entry `parent` that a prompt continues; None if it starts a conversation.

    After a rewind the parent is an early entry.
    """

    uuid: str
    at: int
    parent: str | None


class RewindMark(Record):
    """The user took back the end of the conversation: what follows the entry `after`, the entry `first` and all behind
    it, or the last `turns`. `at` is when; 0 if the client does not say.
    """

    at: int = 0
    after: str | None = None
    first: str | None = None
    turns: int = 0


class Summary(Record):
    """The client's summary of the part that a compaction removed (an isCompactSummary entry)."""

    uuid: str
    at: int
    text: str


class Delivery(Record):
    """A text from our hooks in the conversation: the nonces found in a hook's additional context."""

    uuid: str
    nonces: tuple[str, ...]


# The records that a reader of transcripts yields, in the order of the conversation.
Found = Step | Boundary | Summary | Delivery | RewindMark


class Usage(Record):
    """The size of the conversation that the API reported with a message; all entries of one message agree."""

    message_id: str
    context_tokens: int


class Hit(Record):
    """One search result.

    `uuids` are the transcript entries it covers. `score` is higher for better results. `coverage` is the share of the
    query found there and beside it, between 0 and 1. `status` is that of an item, or `taken back` of a rewound step.
    """

    ref: str
    kind: str
    uuids: tuple[str, ...]
    session_id: str | None
    timestamp: str
    score: float
    snippet: str
    status: str | None = None
    coverage: float = 1.0


class ShortForm(Record):
    """The short form of an output.

    `text` has pieces of the output, byte for byte and in order, with marks in place of the gaps. `shown` are the ranges
    of complete lines, from 1, with both ends included. `parts` are the lines of which only a part is shown. `lines` and
    `characters` measure the whole output.
    """

    kind: str
    text: str
    shown: tuple[tuple[int, int], ...]
    parts: tuple[int, ...]
    lines: int
    characters: int

    @property
    def lines_shown(self) -> int:
        """The number of complete lines."""
        return sum(last - first + 1 for first, last in self.shown)


def full_name(name: str, version: str) -> str:
    """Return the name of a model for stores without versions, so that vectors of two versions are never compared."""
    return f"{name} {version}"

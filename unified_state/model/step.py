"""What the archive holds of a session: steps, grouped into turns, and the compactions between them."""

from __future__ import annotations

from unified_state.lib.record import Record

PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT = "prompt", "text", "thinking", "tool_call", "tool_result"
TOOL_FILE, ATTACHMENT, NOTICE = "tool_file", "attachment", "notice"
# The position is the number that the archive stores: only ever add at the end.
KINDS = (PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, TOOL_FILE, ATTACHMENT, NOTICE)
EMBEDDED_CHARACTERS = 24_000  # of a text that a vector is made of: some 6,000 tokens


class Step(Record):
    """One event of a session: a prompt, a piece of assistant text or thinking, a tool call, its result.

    `uuid` and `block` (the position in the entry's content) name it for ever. `text` is the whole content: of a tool
    call its input as JSON. A `tool_file` is a long result that the client moved to a file of its own; an `attachment`
    is a file the user mentioned; a `notice` is text in the user's place that the user did not write (echoes of
    commands, notifications, skills). `agent` is the subagent that did it, `at` is in milliseconds since 1970.
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
    """Where the client cut the conversation (a compact_boundary entry). `kept_from` is the entry from which on it goes
    on as it was, before the boundary.
    """

    uuid: str
    at: int
    trigger: str | None = None
    pre_tokens: int | None = None
    kept_from: str | None = None


class Continuation(Record):
    """The entry `parent` that a prompt continues; None where it begins a conversation. After a rewind the parent is an
    early entry.
    """

    uuid: str
    at: int
    parent: str | None


class Summary(Record):
    """The client's summary of the part that a compaction removed (an isCompactSummary entry)."""

    uuid: str
    at: int
    text: str


class Delivery(Record):
    """A text of ours in the conversation: the nonces found in a hook's additional context."""

    uuid: str
    nonces: tuple[str, ...]


# The records that a reader of transcripts yields, in the order of the conversation.
Found = Step | Boundary | Summary | Delivery


class Usage(Record):
    """The size of the conversation that the API reported with a message; all entries of one message agree."""

    message_id: str
    context_tokens: int


class Hit(Record):
    """One thing found. `uuids` are the transcript entries it covers, `score` is higher for better ones, `coverage` is
    how much of the query stands there and beside it, between 0 and 1; `status` is that of an item.
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


class Shortened(Record):
    """What is shown of an output. `text` holds pieces of the output, byte for byte and in order, and marks in place of
    what is cut. `shown` are the lines that stand there whole, as ranges from 1 with both ends; `parts` the lines of
    which a part stands there. `lines` and `characters` measure the whole output, and `about` tells what it looks like.
    """

    kind: str
    text: str
    shown: tuple[tuple[int, int], ...]
    parts: tuple[int, ...]
    lines: int
    characters: int
    about: str = ""

    @property
    def lines_shown(self) -> int:
        """How many lines stand there whole."""
        return sum(last - first + 1 for first, last in self.shown)

"""What the tools answer with, as JSON Schemas. The shapes are those of the commands' `--json`, and a page where an
answer may be long.

Fields that a shape does not name may be there too: a newer version adds some, and so may who wrote the state file.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic takes that of `typing` from Python 3.12 on only

from unified_state.lib.record import Record
from unified_state.model.session_state import State

Origin = Literal["user_said", "observed", "inferred"]


class Page(TypedDict):
    """Which part this is: `shown` of `total` entries or characters; null in `next_offset` on the last page."""

    unit: Literal["entries", "characters"]
    offset: int
    shown: int
    total: int
    next_offset: int | None


class Step(TypedDict):
    """One archived step; `cut` says how many characters a field has that is not shown whole."""

    ref: str
    uuids: list[str]
    session_id: str
    kind: str
    timestamp: str
    text: NotRequired[str]
    tool: NotRequired[str | None]
    input: NotRequired[Any]
    result: NotRequired[str]
    is_error: NotRequired[bool]
    tool_use_id: NotRequired[str]
    agent: NotRequired[str]
    cut: NotRequired[dict[str, int]]


class Turn(TypedDict):
    """A turn: a prompt and all that it led to."""

    ref: str
    kind: Literal["turn"]
    session_id: str
    agent: NotRequired[str]
    timestamp: str
    steps: list[Step]
    page: Page


class Recalled(TypedDict):
    """An item, a turn, a step or a compaction, as `unified-state recall --json` prints it."""

    ref: str
    kind: str
    session_id: str | None
    part: NotRequired[dict[str, Any]]
    page: Page


class Hit(TypedDict):
    """One thing found, as `unified-state search --json` prints it."""

    ref: str
    kind: str
    uuids: list[str]
    session_id: str | None
    timestamp: str
    score: float
    snippet: str
    status: str | None
    coverage: float


class TeamHit(TypedDict):
    """One thing that somebody else of the team said or did; there is no ref to it, `text` is what stands round the
    words.
    """

    said_by: str | None
    kind: str
    uuids: list[str]
    session_id: str
    timestamp: str
    score: float
    snippet: str
    text: str
    cut: NotRequired[dict[str, int]]


class Hits(TypedDict):
    """What a search finds, the best first; `notes` say how it could have found more."""

    hits: list[Hit]
    page: Page
    team: NotRequired[list[TeamHit]]
    notes: NotRequired[list[str]]


class Explained(TypedDict):
    """Where an item comes from, as `unified-state why --json` prints it."""

    ref: str
    uuid: str
    kind: str
    body: dict[str, Any] | str
    status: str
    origin: Origin
    created_at: str
    session_id: str | None
    commit: str | None
    branch: str | None
    source_uuid: str | None
    quote: str | None
    quote_hash: str | None
    turn: dict[str, Any] | str | None
    links: list[dict[str, Any]] | str
    validity: dict[str, Any] | str
    faults: list[str] | str
    page: Page


class StatePage(State):
    """The state, as `unified-state load --json` prints it, with a page of its items; `leftOut` names what is too long
    to be shown beside them.
    """

    left_out: tuple[str, ...] = ()
    page: Page = Page(unit="entries", offset=0, shown=0, total=0, next_offset=None)


def recorded(entry: type[Record]) -> type[Record]:
    """Return the shape of an entry after a tool recorded it, with notes for the agent."""
    fields = {"__doc__": entry.__doc__, "__annotations__": {"notes": tuple[str, ...]}, "notes": ()}
    return type(f"Recorded{entry.__name__}", (entry,), fields)


def schema_of(shape: Any) -> dict[str, Any]:
    """Return the JSON Schema of a shape."""
    return TypeAdapter(shape).json_schema()

"""The answers of the tools as JSON Schemas.

They equal the output of the commands with `--json`, plus a page if an answer may be long. An answer may have other
fields too, from a newer version or from the writer of the state file.

The list of tools has short schemas, because it costs every conversation tokens. A short schema names each argument or
field with its type, its choices and its description. It accepts every value that the whole schema accepts, except a
null for an argument that can be left out; the server takes that too.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic accepts that of `typing` only from Python 3.12 on

from unified_state.lib.record import Record
from unified_state.model.session_state import State

Schema = dict[str, Any]
Origin = Literal["user_said", "observed", "inferred"]


class Page(TypedDict):
    """The shown part: `shown` of `total` entries or characters. `next_offset` is null on the last page."""

    unit: Literal["entries", "characters"]
    offset: int
    shown: int
    total: int
    next_offset: int | None


class Step(TypedDict):
    """One archived step. `cut` has the number of characters missing from each shortened field."""

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
    """A turn: a prompt and all steps that followed it."""

    ref: str
    kind: Literal["turn"]
    session_id: str
    agent: NotRequired[str]
    timestamp: str
    steps: list[Step]
    page: Page


class Recalled(TypedDict):
    """An item, a turn, a step or a compaction, as `unified-state show --json` prints it."""

    ref: str
    kind: str
    session_id: str | None
    part: NotRequired[dict[str, Any]]
    page: Page


class Blamed(TypedDict):
    """Who wrote the lines of a file, as `unified-state blame --json` prints it: groups of lines, and their turns."""

    file: str
    lines: list[dict[str, Any]]
    turns: list[dict[str, Any]]
    problem: NotRequired[str]
    page: Page


class Hit(TypedDict):
    """One search hit, as `unified-state search --json` prints it."""

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
    """A step or item of another member: no instruction. `text` is the part around the words."""

    ref: str
    said_by: str | None
    kind: str
    status: str | None
    uuids: list[str]
    session_id: str | None
    timestamp: str
    score: float
    snippet: str
    text: str
    cut: NotRequired[dict[str, int]]


class Hits(TypedDict):
    """The hits of a search, best first. `notes` describe how to find more."""

    hits: list[Hit]
    page: Page
    team: NotRequired[list[TeamHit]]
    notes: NotRequired[list[str]]


class Explained(TypedDict):
    """The source of an item, as `unified-state show --json --source` prints it."""

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


class Changed(TypedDict):
    """The changes between two points, as `unified-state diff --json` prints them."""

    events: list[dict[str, Any]]
    page: Page


class StatePage(State):
    """The state, as `unified-state save --json` prints it, with a page of its items. `leftOut` names fields that are
    too long to be shown with them.
    """

    left_out: tuple[str, ...] = ()
    page: Page = Page(unit="entries", offset=0, shown=0, total=0, next_offset=None)


class Edited(TypedDict):
    """The item that holds now, or is proposed."""

    id: str
    status: str
    notes: list[str]


def recorded(entry: type[Record]) -> type[Record]:
    """Return the schema of an entry after a tool recorded it, with notes for the agent."""
    fields = {"__doc__": entry.__doc__, "__annotations__": {"notes": tuple[str, ...]}, "notes": ()}
    return type(f"Recorded{entry.__name__}", (entry,), fields)


def schema_of(shape: Any) -> dict[str, Any]:
    """Return the JSON Schema of a shape."""
    return TypeAdapter(shape).json_schema()


_TOLD = ("type", "enum", "description", "minimum", "maximum", "default")  # of an argument


def brief_arguments(schema: Schema) -> Schema:
    """Return the schema of a tool's arguments. No other argument is allowed."""
    properties = {name: _argument(shape) for name, shape in schema["properties"].items()}
    return {**_object(schema, properties), "additionalProperties": False}


def _argument(shape: Schema) -> Schema:
    """Return the shape of one argument. An optional one is left out instead of given as null."""
    chosen: Schema = next((choice for choice in shape.get("anyOf", ()) if choice["type"] != "null"), {})
    whole = {**chosen, **shape}
    told = {name: whole[name] for name in _TOLD if name in whole}
    if told.get("default", "") is None:
        del told["default"]
    return told


def brief_answer(schema: Schema) -> Schema:
    """Return the schema of a tool's answer: the fields that it always has with their types, and no more of objects and
    lists.
    """
    definitions = schema.get("$defs", {})
    always = schema.get("required", ())
    properties = {name: _field(shape, definitions) for name, shape in schema["properties"].items() if name in always}
    return _object(schema, properties)


def _object(schema: Schema, properties: Schema) -> Schema:
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def _field(shape: Schema, definitions: Schema) -> Schema:
    types = list(dict.fromkeys(_types(shape, definitions)))
    return {} if not types else {"type": types[0] if len(types) == 1 else types}


def _types(shape: Schema, definitions: Schema) -> list[str]:
    """Return the JSON types of a shape; none where every value is allowed."""
    if "$ref" in shape:
        return _types(definitions[shape["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in shape:
        parts = [_types(choice, definitions) for choice in shape["anyOf"]]
        return [] if [] in parts else [kind for part in parts for kind in part]
    return [shape["type"]] if "type" in shape else []

"""Builders of the values that many tests need: ledger items, transcript entries, transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from unified_state.lib.times import to_text
from unified_state.model.item import ALIAS_LETTERS, ATTEMPT, CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem

NOW = 1_790_000_000_000  # milliseconds; 2026-09-21
MINUTE, HOUR = 60_000, 3_600_000
SESSION = "5a1e0000-0000-4000-8000-00000000cafe"
BODIES: dict[str, dict[str, Any]] = {
    DECISION: {"decision": "Use SQLite", "rationale": "one file, no server", "reversible": True},
    CONSTRAINT: {"constraint": "API v1 stays", "source": "the user", "blocking": False},
    QUESTION: {"question": "Which port?", "context": "the proxy", "priority": "medium"},
    EVIDENCE: {"type": "error", "content": "boom", "source": "pytest"},
    ATTEMPT: {"attempt": "edited a.py", "outcome": "pytest failed: boom"},
}

Entry = dict[str, Any]


def any_json(names: str = "", words: str = "", *, leaves: int = 6) -> st.SearchStrategy[Any]:
    """Any JSON value; with names its objects have these alone, with words its texts are often one of these."""
    texts = st.sampled_from(words.split()) | st.text(max_size=5) if words else st.text()
    keys = st.sampled_from(names.split()) if names else st.text()
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=leaves,
    )


def uuid_of(number: int) -> str:
    """A UUID that is as good as any other, told from others by its number."""
    return f"{number:08x}-0000-4000-8000-000000000000"


def item(
    number: int, kind: str = DECISION, *, status: str = "active", origin: str = "inferred", **body: Any
) -> LedgerItem:
    """The ledger item D7 or C7 …, with some fields of its body set."""
    return LedgerItem(
        uuid=uuid_of(number),
        alias=f"{ALIAS_LETTERS[kind]}{number}",
        kind=kind,
        body={**BODIES[kind], **body},
        status=status,
        origin=origin,
        created_at=to_text(NOW),
    )


def recorded_in_another_order() -> list[LedgerItem]:
    """Three decisions in the order in which they were recorded: D1 is the newest. D2 came with an old session, D3 by a
    clock that was ahead.
    """
    times = {1: NOW, 2: NOW - 300 * 24 * HOUR, 3: NOW + 300 * 24 * HOUR}
    return [item(number, decision=f"Use {number}").replace(created_at=to_text(at)) for number, at in times.items()]


def entry(number: int, kind: str, *, session: str = SESSION, at: int = NOW, **fields: Any) -> Entry:
    """A transcript entry as the client writes it; `number` gives its uuid and its place in time."""
    return {
        "parentUuid": uuid_of(number - 1) if number else None,
        "isSidechain": False,
        "type": kind,
        "uuid": uuid_of(number),
        "timestamp": to_text(at + number * 1000),
        "sessionId": session,
        **fields,
    }


def prompt(number: int, text: str, **fields: Any) -> Entry:
    """What the user typed."""
    return entry(number, "user", **{"message": {"role": "user", "content": text}, **fields})


def answer(number: int, *blocks: str | Entry, **fields: Any) -> Entry:
    """What the model said; text is written as it is, other blocks are handed in whole."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return entry(
        number, "assistant", message={"id": f"msg_{number}", "role": "assistant", "content": content}, **fields
    )


def call(identity: str, tool: str, **arguments: Any) -> Entry:
    """A block in which the model calls a tool."""
    return {"type": "tool_use", "id": identity, "name": tool, "input": arguments}


def result(number: int, identity: str, content: Any, *, is_error: bool = False, **fields: Any) -> Entry:
    """What a tool gave back."""
    block = {"type": "tool_result", "tool_use_id": identity, "content": content, "is_error": is_error}
    said = {"message": {"role": "user", "content": [block]}, "toolUseResult": "a copy"}
    return entry(number, "user", **(said | fields))


def called(
    number: int, tool: str, output: str = "done", *, is_error: bool = False, cwd: str = "", **fields: Any
) -> list[Entry]:
    """A tool call and its result, as two entries."""
    identity, where = f"toolu_{number}", {"cwd": cwd} if cwd else {}
    asked = answer(number, call(identity, tool, **fields), **where)
    return [asked, result(number + 1, identity, output, is_error=is_error, **where)]


def boundary(number: int, **fields: Any) -> Entry:
    """Where the client cut the conversation."""
    details = {"trigger": "auto", "preTokens": 90_328}
    return entry(number, "system", subtype="compact_boundary", compactMetadata=details, **fields)


def summary(number: int, text: str, **fields: Any) -> Entry:
    """What the client put in place of what it cut away."""
    return entry(number, "user", isCompactSummary=True, message={"role": "user", "content": text}, **fields)


def lines(entries: Iterable[Entry]) -> bytes:
    """The entries as lines of a transcript, in the client's compact JSON."""
    return b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in entries)


def write_transcript(path: Path, *entries: Entry) -> Path:
    """A transcript file of these entries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(entries))
    return path


def append(path: Path, *entries: Entry) -> None:
    """More entries at the end of a transcript."""
    with path.open("ab") as file:
        file.write(lines(entries))

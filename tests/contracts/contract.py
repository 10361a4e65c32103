"""The records that tests of history share, and what an archive holds of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from unified_state.model.history_records import HistoryRecord, StoredItem, StoredSession, StoredStep
from unified_state.upkeep.history.archive_rows import everything

if TYPE_CHECKING:
    from unified_state.archive.archive import Archive

R = TypeVar("R", bound=HistoryRecord)

START = 1_767_225_600_000  # 2026-01-01, in milliseconds


def uuid(number: int) -> str:
    """A UUID that is the same in each run."""
    return f"00000000-0000-4000-8000-{number:012x}"


def session(name: str = "one", **fields: Any) -> StoredSession:
    """A session."""
    return StoredSession(session_id=name, started_at=START, seen_at=START, **fields)


def step(number: int, text: str = "", **fields: Any) -> StoredStep:
    """The step with that number, of session `one`, as a prompt that starts a turn unless the fields tell otherwise."""
    given = {
        "session_id": "one",
        "uuid": uuid(number),
        "block": 0,
        "kind": "prompt",
        "at": START + number * 1000,
        "text": text or f"text {number}",
        "starts_turn": fields.get("kind", "prompt") == "prompt",
    }
    return StoredStep(**{**given, **fields})


def turn(first: int, name: str = "one") -> list[StoredStep]:
    """A whole turn: prompt, thinking, a call with its result, an answer in two blocks."""
    call = {"tool": "Bash", "tool_use_id": f"toolu_{first}", "session_id": name}
    return [
        step(first, "Please run the tests", session_id=name),
        step(first + 1, "They live in tests/", kind="thinking", session_id=name),
        step(first + 2, '{"command": "pytest -q"}', kind="tool_call", **call),
        step(first + 3, "1 failed: test_limit", kind="tool_result", is_error=True, **{**call, "tool": None}),
        step(first + 4, "One fails.", kind="text", session_id=name),
        step(first + 4, "I look at it.", kind="text", block=1, session_id=name),
    ]


def decision(number: int, alias: str, text: str = "Use SQLite", **fields: Any) -> StoredItem:
    """A decision."""
    given = {
        "uuid": uuid(1_000_000 + number),
        "alias": alias,
        "kind": "decision",
        "body": {"decision": text, "rationale": "one file", "reversible": True},
        "status": "active",
        "origin": "user_said",
        "created_at": "2026-01-01T00:00:00.000Z",
        "session_id": "one",
    }
    return StoredItem(**{**given, **fields})


def kept(archive: Archive, kind: type[R]) -> list[R]:
    """All records of a kind that an archive holds."""
    return [record for record in everything(archive) if isinstance(record, kind)]


def steps_of(archive: Archive, name: str = "one") -> list[StoredStep]:
    """All steps of a session."""
    return [step for step in kept(archive, StoredStep) if step.session_id == name]

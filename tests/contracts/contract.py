"""What a contract is, and the examples that the contracts share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from unified_state.lib.record import Record
from unified_state.model.history_records import StoredItem, StoredSession, StoredStep
from unified_state.upkeep.history.archive_store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

OpenStore = Callable[[str], SqliteStore]

PROJECT, OTHER_PROJECT = "contracts", "contracts-other"
START = 1_767_225_600_000  # 2026-01-01, in milliseconds


class Contract(Record):
    """One numbered promise, and the function that checks it."""

    number: int
    check: Callable[[OpenStore], None]

    @property
    def name(self) -> str:
        """What is promised, in words."""
        return self.check.__name__.replace("_", " ")


def same(found: object, expected: object) -> None:
    """Raise AssertionError where they differ, with both."""
    if found != expected:
        message = f"expected {expected!r}, found {found!r}"
        raise AssertionError(message)


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


def steps_of(store: SqliteStore, name: str = "one", limit: int = 1000) -> list[StoredStep]:
    """All steps of a session, page by page."""
    found: list[tuple[int, StoredStep]] = []
    while page := store.steps(name, found[-1][0] if found else 0, limit):
        if len(page) > limit or [position for position, _ in page] != sorted({position for position, _ in page}):
            message = f"a page of {limit} has {len(page)} steps at {[position for position, _ in page]}"
            raise AssertionError(message)
        found += page
    return [one for _, one in found]


def texts(steps: Sequence[StoredStep]) -> list[str]:
    """Their texts."""
    return [one.text for one in steps]

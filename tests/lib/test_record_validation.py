from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from unified_state.lib.record import Record, disk_value
from unified_state.model.item import Decision
from unified_state.model.session_state import STATE_VERSION, State

STATE = {
    "version": STATE_VERSION,
    "timestamp": "2026-01-01T00:00:00.000Z",
    "trigger": "manual",
    "workItem": {"id": "PROJ-1", "progress": 0.5},
    "decisions": [
        {
            "id": "D1",
            "decision": "Use SQLite",
            "rationale": "one file",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "reversible": True,
            "origin": "inferred",
        }
    ],
    "sessions": {"s": {"updatedAt": "2026-01-01T00:00:00.000Z", "highlights": [], "pendingActions": ["run it"]}},
}


class Closed(Record):
    number_of_things: int
    note: str = ""


def validated(kind: Any, value: object) -> Any:
    return TypeAdapter(kind).validate_json(json.dumps(value))


def test_json_becomes_the_very_record() -> None:
    state = validated(State, STATE)
    assert state.work_item.progress == 0.5
    assert state.decisions[0] == Decision.from_disk(STATE["decisions"][0])  # type: ignore[index]  # an object
    assert state.sessions["s"].pending_actions == ("run it",)


def test_what_is_validated_is_written_back_as_it_was() -> None:
    written = disk_value(validated(State, STATE))
    assert {name: value for name, value in written.items() if name in STATE} == STATE


def test_pydantic_writes_a_record_as_we_do() -> None:
    adapter = TypeAdapter(State)
    state = validated(State, STATE)
    assert adapter.dump_python(state) == disk_value(state)


def test_unknown_fields_are_kept_where_there_is_a_place_for_them() -> None:
    assert validated(State, {**STATE, "later": 1}).unknown == {"later": 1}


def test_unknown_fields_are_refused_where_there_is_none() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        validated(Closed, {"numberOfThings": 1, "more": 2})


def test_fields_go_by_their_names_on_disk() -> None:
    assert validated(Closed, {"numberOfThings": 1}) == Closed(1)
    with pytest.raises(ValidationError):
        validated(Closed, {"number_of_things": 1})


@pytest.mark.parametrize(
    "value", [{}, {"numberOfThings": "1"}, {"numberOfThings": True}, {"numberOfThings": 1, "note": 2}]
)
def test_validation_is_strict(value: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        validated(Closed, value)


def test_a_word_that_is_not_among_the_allowed_ones_is_refused() -> None:
    with pytest.raises(ValidationError, match="trigger"):
        validated(State, {**STATE, "trigger": "sometimes"})

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from unified_state.lib.record import Record, disk_value
from unified_state.model.item import Decision
from unified_state.model.session_state import STATE_VERSION, State


class Point(Record):
    x: int
    y: int = 0
    nick_name: str | None = None
    unknown: dict[str, Any] = {}  # noqa: RUF012  # records never change, so neither do their defaults


class Labelled(Point):
    labels: tuple[str, ...] = ()


class Plain(Record):
    only: int


@pytest.mark.parametrize(
    ("values", "named"),
    [((1, 2, "a", {}, 5), {}), ((1,), {"x": 2}), ((1,), {"z": 2})],
    ids=["too many", "twice", "unknown"],
)
def test_a_field_too_many_is_refused_with_the_names_there_are(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="Point takes each of these fields once: x, y, nick_name, unknown"):
        Point(*values, **named)


def test_a_record_gives_values_that_json_takes() -> None:
    state = State(
        STATE_VERSION, "2026-01-01T00:00:00Z", "manual", decisions=(Decision("D1", "x", "y", "2026-01-01T00:00:00Z"),)
    )
    given = json.loads(json.dumps(state.model_dump()))
    assert given["decisions"][0]["decision"] == "x"
    assert given["open_questions"] == []
    assert given["work_item"] == {
        "id": None,
        "title": None,
        "goal": None,
        "phase": None,
        "progress": None,
        "verified": None,
    }
    assert Point(1, nick_name="a", unknown={"z": [1]}).model_dump() == {"x": 1, "y": 0, "nick_name": "a", "z": [1]}


def test_a_record_does_not_change() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match=r"Point\.x cannot be set"):
        point.x = 2  # type: ignore[misc]  # what is tested


def test_an_object_on_disk_becomes_the_record() -> None:
    found = Labelled.from_disk({"x": 1, "nickName": "p", "labels": ["a", "b"]})
    assert found == Labelled(x=1, nick_name="p", labels=("a", "b"))


def test_what_a_newer_version_wrote_is_kept_and_written_back() -> None:
    written = {"x": 1, "y": 0, "z": [3]}
    point = Point.from_disk(written)
    assert point.unknown == {"z": [3]}
    assert disk_value(point) == written


def test_a_record_without_a_place_for_it_leaves_out_what_it_does_not_know() -> None:
    assert Plain.from_disk({"only": 1, "more": 2}) == Plain(1)


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

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from unified_state.ledger.waiting_notes import WORK_ITEM
from unified_state.model.session_state import State
from unified_state.state_file.read_entries import read_entries, read_notes

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*State.disk_names.values()]), inner),
    max_leaves=20,
)


def work_items(*given: object) -> list[object]:
    """The work items that a state file with these has."""
    sessions = {str(place): {"workItem": one} for place, one in enumerate(given)}
    return [json.loads(note.text) for note in read_notes({"sessions": sessions}) if note.kind == WORK_ITEM]


def test_fields_of_another_kind_are_left_out() -> None:
    assert work_items({"id": 5, "title": "Sync", "phase": None}, "a text") == [{"title": "Sync"}]


def test_a_progress_is_a_number_from_0_to_1() -> None:
    said = [0, 0.5, 1, 7, -1, 10**400, float("nan"), float("inf"), True, "0.5", None]
    assert work_items(*({"progress": value} for value in said)) == [{"progress": value} for value in (0, 0.5, 1)]


@given(st.dictionaries(st.sampled_from([*State.disk_names.values()]), json_values))
def test_whatever_stands_in_a_file_can_be_read(state: dict[str, object]) -> None:
    assert list(read_notes(state)) is not list(read_entries(state, 0))

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unified_state.model.session_state import GitState, State, WorkItem
from unified_state.state_file.state_file import read_section

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*State.disk_names.values()]), inner),
    max_leaves=20,
)


def test_a_section_has_what_the_file_says() -> None:
    said = {"branch": "main", "recentCommits": ["a b"], "changedCount": 3, "stagedChanges": "1 file"}
    assert read_section(GitState, said) == GitState(
        branch="main", recent_commits=("a b",), changed_count=3, staged_changes="1 file"
    )


def test_fields_of_another_kind_are_left_out() -> None:
    said = {"branch": 5, "status": None, "recentCommits": ["a", 5], "modifiedFiles": "a", "changedCount": True}
    assert read_section(GitState, said) == GitState()


def test_a_progress_is_a_number_from_0_to_1() -> None:
    said = [0, 0.5, 1, 7, -1, 10**400, float("nan"), float("inf"), True, "0.5", None]
    progress = [read_section(WorkItem, {"progress": value}).progress for value in said]
    assert progress == [0, 0.5, 1, *[None] * 8]


@given(json_values)
def test_whatever_stands_there_gives_a_section(value: object) -> None:
    assert isinstance(read_section(GitState, value), GitState)

"""Lines of any file and edits of any kind: each line gets one of the edits, or none, and what is certain is right."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.extras.blame.undo_edits import Edit, certain_lines, split_lines, writers_of

TEXTS = st.text(alphabet="ab \n", max_size=12)


@given(TEXTS, st.lists(st.builds(Edit, st.integers(1, 9), st.integers(0, 9), TEXTS, TEXTS, st.booleans()), max_size=6))
def test_any_edits_of_any_text_are_undone(text: str, edits: list[Edit]) -> None:
    lines = split_lines(text)
    writers = writers_of(lines, edits, [None] * len(lines))
    assert len(writers) == len(certain_lines(lines, writers, edits)) == len(lines)
    assert all(writer is None or writer in edits for writer in writers)


@pytest.mark.parametrize("seed", range(30))
def test_edits_that_were_made_are_found_again(seed: int) -> None:
    chance = random.Random(seed)
    lines = [f"the first line {number}" for number in range(20)]
    writers: list[int | None] = [0] * len(lines)
    edits = [Edit(0, 0, "", "\n".join([*lines, ""]), is_whole=True, is_new=True)]
    for step in range(1, 40):
        place = chance.randrange(len(lines))
        end = min(len(lines), place + chance.randrange(1, 4))
        new = [f"line {number} of step {step}" for number in range(chance.randrange(1, 4))]
        before = "\n".join(lines[place:end])
        if "\n".join(lines).count(before) > 1:
            continue
        if chance.random() < 0.2:  # by hand
            lines[place:end], writers[place:end] = [f"{line} by hand" for line in new], [None] * len(new)
        else:
            edits.append(Edit(step, step, before, "\n".join(new)))
            lines[place:end], writers[place:end] = new, [step] * len(new)
    found = writers_of(lines, edits[::-1], [None] * len(lines))
    assert [edit and edit.step for edit in found] == writers


def writers(lines: list[str], edits: list[Edit], since: int | None = None) -> list[tuple[int | None, bool]]:
    """The step of each line, and whether it is certain."""
    found = writers_of(lines, edits, [since] * len(lines))
    return [
        (None if edit is None else edit.step, is_certain)
        for edit, is_certain in zip(found, certain_lines(lines, found, edits), strict=True)
    ]


def test_a_line_older_than_an_edit_is_not_of_that_edit() -> None:
    edit = Edit(1, 50_000, "x = 1", "the_value = compute(1)")
    assert writers(["the_value = compute(1)"], [edit], 10_000) == [(None, False)]
    assert writers(["the_value = compute(1)"], [edit], 60_000) == [(1, True)]


def test_a_file_written_again_keeps_the_turns_of_the_lines_that_stayed() -> None:
    first = Edit(1, 1, "", "one line\nanother line\n", is_whole=True, is_new=True)
    again = Edit(2, 2, "", "one line\na new line here\nanother line\n", is_whole=True)
    found = writers(["one line", "a new line here", "another line"], [again, first])
    assert found == [(1, True), (2, False), (1, True)]


def test_all_that_a_replacement_of_every_occurrence_wrote_is_its() -> None:
    edit = Edit(3, 3, "old_name", "new_name", is_everywhere=True)
    assert [step for step, _ in writers(["new_name(1)", "other", "x = new_name"], [edit])] == [3, None, 3]

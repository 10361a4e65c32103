"""Lines of any file and edits of any kind: each line gets one of the edits, or none, and what is certain is right."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.extras.blame.rules.align_lines import common_lines
from unified_state.extras.blame.rules.undo_edits import Edit, claim_lines, split_lines

TEXTS = st.text(alphabet="ab \n", max_size=12)


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_common_lines_are_equal_and_in_order(old: list[str], new: list[str]) -> None:
    pairs = sorted(common_lines(old, new))
    assert all(old[one] == new[other] for one, other in pairs)
    assert all(first[0] < second[0] and first[1] < second[1] for first, second in pairwise(pairs))


def test_equal_texts_have_all_lines_in_common() -> None:
    lines = [str(number % 10) for number in range(1000)]
    assert len(list(common_lines(lines, lines))) == 1000
    assert len(list(common_lines(lines, [*lines[:500], "new", *lines[500:]]))) == 1000


@given(TEXTS, st.lists(st.builds(Edit, st.integers(1, 9), st.integers(0, 9), TEXTS, TEXTS, st.booleans()), max_size=6))
def test_any_edits_of_any_text_are_undone(text: str, edits: list[Edit]) -> None:
    lines = split_lines(text)
    claims = claim_lines(lines, edits, [None] * len(lines))
    assert len(claims) == len(lines)
    assert all(claim is None or claim.edit in edits for claim in claims)


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
    claims = claim_lines(lines, edits[::-1], [None] * len(lines))
    assert [None if claim is None else claim.edit.step for claim in claims] == writers


def test_a_line_older_than_an_edit_is_not_of_that_edit() -> None:
    edit = Edit(1, 50_000, "x = 1", "the_value = compute(1)")
    assert claim_lines(["the_value = compute(1)"], [edit], [10_000]) == [None]
    (claim,) = claim_lines(["the_value = compute(1)"], [edit], [60_000])
    assert claim is not None
    assert claim.is_certain


def test_a_file_written_again_keeps_the_turns_of_the_lines_that_stayed() -> None:
    first = Edit(1, 1, "", "one line\nanother line\n", is_whole=True, is_new=True)
    again = Edit(2, 2, "", "one line\na new line here\nanother line\n", is_whole=True)
    claims = claim_lines(["one line", "a new line here", "another line"], [again, first], [None] * 3)
    assert [claim and (claim.edit.step, claim.is_certain) for claim in claims] == [(1, True), (2, True), (1, True)]


def test_all_that_a_replacement_of_every_occurrence_wrote_is_its() -> None:
    edit = Edit(3, 3, "old_name", "new_name", is_everywhere=True)
    claims = claim_lines(["new_name(1)", "other", "x = new_name"], [edit], [None] * 3)
    assert [claim and claim.edit.step for claim in claims] == [3, None, 3]

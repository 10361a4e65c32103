from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.errors import UsageError
from unified_state.model.refs import COMPACTION, ITEM, STEP, TURN, parse_ref


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D7", (ITEM, 7)),
        ("c3", (ITEM, 3)),
        ("Q1", (ITEM, 1)),
        ("E12", (ITEM, 12)),
        ("T41", (TURN, 41)),
        ("s1234", (STEP, 1234)),
        ("K2", (COMPACTION, 2)),
        ("D007", (ITEM, 7)),
        ("0199ab00-0000-7000-8000-00000000beef", (ITEM, 0)),
    ],
)
def test_a_ref_names_a_kind_and_a_number(text: str, expected: tuple[str, int]) -> None:
    assert parse_ref(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "D", "7", "X7", "D7a", "D-1", "D 7", "D²", "D٣", "D99999999999999999999", "decision 7", "a" * 36, "-" * 36],
)
def test_anything_else_is_refused_with_an_explanation(text: str) -> None:
    with pytest.raises(UsageError, match=r"^unknown ref .*; refs look like D7"):
        parse_ref(text)


@given(st.text())
def test_what_is_accepted_as_a_number_fits_into_sqlite(text: str) -> None:
    try:
        _, number = parse_ref(text)
    except UsageError:
        return
    assert 0 <= number < 2**63


def test_a_long_text_is_quoted_in_part_only() -> None:
    with pytest.raises(UsageError) as caught:
        parse_ref("x" * 10_000)
    assert len(str(caught.value)) < 300

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.context.window.rules.status_line_text import Glance, status_line
from unified_state.model.context_usage import OK, OPTIMISE, PHASES, WARNING

FULL = Glance(
    tokens=124_000,
    window=200_000,
    percent=62,
    compacts_at=167_000,
    phase=WARNING,
    turns_left=5,
    minutes_left=12,
    items=12,
    blocking=3,
    stale=2,
    saved="4 min ago",
)


def test_everything_that_is_known_stands_in_one_line() -> None:
    assert status_line(FULL, 200, colour=False) == (
        "███████░░░│░ 62% 124k/200k · compacts in ~5 turns · "
        "12 items, 3 blocking · 2 stale · saved 4 min ago · hooks ok"
    )


def test_before_the_first_answer_and_without_records_it_says_so() -> None:
    assert status_line(Glance(), 200, colour=False) == "░░░░░░░░░░░░ no answer yet · nothing saved yet · hooks ok"


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"turns_left": 1}, "compacts in ~1 turn ·"),
        ({"turns_left": None}, "compacts in ~12 min ·"),
        ({"turns_left": None, "minutes_left": None}, "compacts at 167k ·"),
        ({"tokens": 170_000}, "compacts any moment ·"),
        ({"items": 1, "blocking": 0}, "· 1 item ·"),
        ({"problem": "Stop failed 3 min ago"}, "124k/200k · ! Stop failed 3 min ago · compacts"),
        ({"percent": None}, " 62% "),
    ],
)
def test_each_part_says_what_is_so(changes: dict[str, object], part: str) -> None:
    assert part in status_line(FULL.replace(**changes), 200, colour=False)


@pytest.mark.parametrize(("phase", "colour"), [(OK, "\x1b[32m"), (WARNING, "\x1b[33m"), (OPTIMISE, "\x1b[31m")])
def test_the_phase_gives_the_colour(phase: str, colour: str) -> None:
    line = status_line(FULL.replace(phase=phase), 200, colour=True)
    assert line.startswith(f"{colour}███████░░░│░ 62% 124k/200k\x1b[0m · {colour}compacts in")


def test_a_narrow_terminal_keeps_what_matters_most() -> None:
    assert status_line(FULL, 50, colour=False) == "███████░░░│░ 62% 124k/200k · compacts in ~5 turns"
    assert status_line(FULL, 1, colour=False) == "███████░░░│░ 62% 124k/200k"


@given(
    st.builds(
        Glance,
        tokens=st.none() | st.integers(0, 10**8),
        window=st.none() | st.integers(0, 10**8),
        percent=st.none() | st.floats(0, 10**8),
        compacts_at=st.none() | st.integers(0, 10**8),
        phase=st.sampled_from(PHASES),
        items=st.none() | st.integers(0, 10**6),
    ),
    st.integers(0, 300),
)
def test_whatever_is_known_it_is_one_line(glance: Glance, columns: int) -> None:
    line = status_line(glance, columns, colour=False)
    assert line.isprintable()
    assert len(line) <= max(columns, 60)

"""How much tighter outputs are shortened as the context fills up, and that it does not flicker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.structure.test_start_up import TOO_DEAR_FOR_HOOKS
from unified_state.context.lean.rules.levels import GENTLE, LEVELS, TIGHT, level_in_force, pressure_of

PERCENT, TURNS = st.floats(0, 100), st.none() | st.integers(0, 100)


def test_it_rises_with_the_share_and_with_the_growth() -> None:
    assert [pressure_of(percent, None, 0) for percent in (10, 59, 60, 79, 80, 100)] == [0, 0, 1, 1, 2, 2]
    assert [pressure_of(45, turns, 0) for turns in (30, 9, 8, 4, 3, 0)] == [0, 0, 1, 1, 2, 2]


def test_fast_growth_of_a_small_context_is_none() -> None:
    assert pressure_of(20, 1, 0) == 0


def test_it_falls_only_well_below_the_threshold() -> None:
    assert [pressure_of(percent, None, 2) for percent in (75, 70, 69, 50, 49)] == [2, 2, 1, 1, 0]


@given(PERCENT, TURNS, st.integers(0, 2))
def test_the_same_figures_again_change_nothing(percent: float, turns: int | None, before: int) -> None:
    once = pressure_of(percent, turns, before)
    assert pressure_of(percent, turns, once) == once


@given(PERCENT, TURNS, st.integers(0, 2))
def test_what_was_before_never_lessens_it(percent: float, turns: int | None, before: int) -> None:
    assert 0 <= pressure_of(percent, turns, 0) <= pressure_of(percent, turns, before) <= 2


@given(st.sampled_from(LEVELS), st.integers(0, 2))
def test_a_level_is_never_gentler_than_what_was_chosen(chosen: int, pressure: int) -> None:
    assert GENTLE <= chosen <= level_in_force(chosen, pressure) <= TIGHT


ROOT = Path(__file__).parents[3]
SHORTENED = """
import sys
sys.path.append(sys.argv[1])
from unified_state.context.lean.rules.shorten import shorten
for command in ("go test", "make", "git diff", "rg x", "ls", "curl x", "./run.sh"):
    assert shorten("Bash", {"command": command}, "src/a.go:12: one line of many\\n" * 3_000, 2), command
sys.stdout.write(",".join(sys.modules))
"""


def test_a_short_form_loads_nothing_that_is_too_dear_for_a_hook() -> None:
    arguments = [sys.executable, "-I", "-S", "-c", SHORTENED, str(ROOT)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.split(",")} & TOO_DEAR_FOR_HOOKS


def test_an_output_that_is_short_loads_no_rule_of_a_kind() -> None:
    script = SHORTENED.partition("from unified")[0] + (
        "from unified_state.context.lean.rules.levels import call_to_shorten\n"
        "assert call_to_shorten('Bash', {'command': 'ls'}, 'a b', 2) is None\n"
        "sys.stdout.write(','.join(sys.modules))"
    )
    arguments = [sys.executable, "-I", "-S", "-c", script, str(ROOT)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in done.stdout.split(",") if ".rules." in name}
    assert loaded == {"levels"}

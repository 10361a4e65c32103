"""Regular expressions of others: found, refused, or ended when their time is up."""

from __future__ import annotations

import pytest

from unified_state.errors import UsageError
from unified_state.lib.text.line_excerpts import Match
from unified_state.lib.text.timed_regex import matches_in


def test_lines_with_a_match_are_found() -> None:
    assert matches_in(["a", "xbx", "", "日b", "\udcffb"], "b") == [Match(2, 1, 2), Match(4, 1, 2), Match(5, 1, 2)]


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<a", "x" * 1_001, "(?" * 400, "a{99999999999999999999}"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError):
        matches_in(["a"], pattern)


def test_a_pattern_that_takes_too_long_is_ended() -> None:
    with pytest.raises(UsageError, match="was not done"):
        matches_in(["a" * 60 + "!"], "(a+)+$", seconds=0.5)

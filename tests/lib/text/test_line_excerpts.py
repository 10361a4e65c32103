"""Parts of a long text by lines and by matches."""

from __future__ import annotations

import pytest

from unified_state.errors import UsageError
from unified_state.lib.text.line_excerpts import Match, lines_of, parse_range, shown_matches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2:3", (2, 3)), ("2", (2, 2)), (":3", (1, 3)), ("3:", (3, 9)), ("1:99", (1, 9)), ("0:2", (1, 2)),
        (" 1 : 2 ", (1, 2)), ("1,000:", None), ("", None), (":", None), ("a", None), ("-1:3", None), ("3:2", None),
        ("٣", None), ("1:2:3", None), ("9" * 5_000, None),
    ],
)  # fmt: skip
def test_a_range_of_nine_lines(text: str, expected: tuple[int, int] | None) -> None:
    if expected is None:
        with pytest.raises(UsageError):
            parse_range(text, 9)
    else:
        assert parse_range(text, 9) == expected


def test_only_a_line_feed_ends_a_line() -> None:
    assert lines_of("a\r\nb\u2028c\x0bd\n") == ["a\r", "b\u2028c\x0bd"]


def test_of_a_long_line_what_stands_around_the_match_is_shown() -> None:
    line = "x" * 10_000 + "needle" + "y" * 10_000
    shown = shown_matches([line], [Match(1, 10_000, 10_006)])
    assert shown.startswith("1:[… 9,750 characters]xx")
    assert "needle" in shown
    assert len(shown) < 700

from __future__ import annotations

import pytest

from unified_state.context.window.rules.context_phase import short_number, told_line
from unified_state.model.context_usage import Reading, Trend


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (999, "999"), (1_000, "1k"), (86_736, "86.7k"), (142_400, "142k"), (999_600, "1M"), (1_234_000, "1.2M")],
)
def test_numbers_for_a_narrow_place(tokens: int, text: str) -> None:
    assert short_number(tokens) == text


def test_the_line_for_the_model_states_facts() -> None:
    reading = Reading(119_010, 200_000, 0)
    assert told_line(reading, 167_000, Trend(9_000, 6, 20)) == (
        "[CONTEXT] 71 % of the way to the next compaction: 119,010 tokens of about 167,000 (window 200,000). "
        "At the present growth that is about 6 turns away. The state was saved now."
    )


def test_without_a_trend_it_says_nothing_of_one() -> None:
    assert "growth" not in told_line(Reading(119_010, 200_000, 0), 167_000, Trend())

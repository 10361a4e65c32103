from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.context.rules.context_phase import (
    compaction_limit,
    phase_of,
    told_line,
    window_of,
)
from unified_state.context.rules.status_text import short_number
from unified_state.model.context_usage import (
    FROM_CLIENT,
    FROM_COMPACTIONS,
    FROM_DEFAULT,
    OK,
    OPTIMISE,
    WARNING,
    Limit,
    Reading,
)

USUAL = (70, 85)


@pytest.mark.parametrize(
    ("tokens", "phase"), [(0, OK), (69_900, OK), (70_000, WARNING), (85_000, OPTIMISE), (130_000, OPTIMISE)]
)
def test_a_phase_is_the_share_of_the_limit(tokens: int, phase: str) -> None:
    assert phase_of(tokens, 100_000, USUAL) == phase


WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
PERCENT = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"


@pytest.mark.parametrize(
    ("model", "tokens", "window"),
    [
        ("claude-sonnet-4-5-20250929", 1_000, 200_000),
        ("claude-haiku-4-5", 1_000, 200_000),
        ("claude-sonnet-5", 1_000, 1_000_000),
        ("claude-opus-5-5", 1_000, 1_000_000),
        ("claude-opus-4-8", 1_000, 1_000_000),
        ("claude-haiku-5-5", 1_000, 1_000_000),
        ("us.anthropic.claude-sonnet-5-v1:0", 1_000, 1_000_000),
        ("anthropic/claude-opus-5-5", 1_000, 1_000_000),
        ("anthropic/claude-opus-4-5", 1_000, 200_000),
        ("claude-sonnet-4-5[1m]", 1_000, 1_000_000),
        ("claude-sonnet-4-5", 250_000, 1_000_000),
        ("", 0, 200_000),
        ("another-model", 5, 200_000),
    ],
)
def test_the_window_follows_the_model_and_what_it_holds_already(model: str, tokens: int, window: int) -> None:
    assert window_of(model, tokens) == window


@pytest.mark.parametrize(("window", "tokens"), [(200_000, 167_000), (1_000_000, 967_000), (100_000, 67_000)])
def test_without_other_knowledge_the_documented_rule_counts(window: int, tokens: int) -> None:
    assert compaction_limit(window, [], {}) == Limit(tokens, FROM_DEFAULT)


def test_what_was_seen_beats_the_rule_and_the_least_is_nearest() -> None:
    assert compaction_limit(200_000, [158_105, 155_454, 167_174], {}) == Limit(155_454, FROM_COMPACTIONS)


@pytest.mark.parametrize(
    ("environ", "tokens"),
    [
        ({WINDOW: "100000"}, 67_000),
        ({WINDOW: "5"}, 67_000),  # the client takes no smaller window
        ({WINDOW: "900000"}, 167_000),
        ({WINDOW: "100000", PERCENT: "50"}, 40_000),
        ({WINDOW: "100000", PERCENT: "80"}, 64_000),
        ({WINDOW: "100000", PERCENT: "100"}, 67_000),
        ({WINDOW: "100000", PERCENT: "0"}, 67_000),
        ({"DISABLE_AUTO_COMPACT": "1"}, 200_000),
    ],
)
def test_what_the_client_says_beats_what_was_seen(environ: dict[str, str], tokens: int) -> None:
    assert compaction_limit(200_000, [155_454], environ) == Limit(tokens, FROM_CLIENT)


@pytest.mark.parametrize(
    "environ", [{WINDOW: "many"}, {WINDOW: ""}, {WINDOW: "-3"}, {WINDOW: "9" * 400}, {PERCENT: "50"}]
)
def test_what_the_client_would_not_understand_does_not_count(environ: dict[str, str]) -> None:
    assert compaction_limit(200_000, [], environ) == Limit(167_000, FROM_DEFAULT)


@given(
    st.integers(1, 10_000_000),
    st.lists(st.integers(1, 10_000_000)),
    st.dictionaries(st.sampled_from([WINDOW, PERCENT, "DISABLE_AUTO_COMPACT"]), st.text() | st.integers().map(str)),
)
def test_a_limit_is_always_more_than_nothing(window: int, seen: list[int], environ: dict[str, str]) -> None:
    assert compaction_limit(window, seen, environ).tokens >= 1


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (999, "999"), (1_000, "1k"), (86_736, "86.7k"), (142_400, "142k"), (999_600, "1M"), (1_234_000, "1.2M")],
)
def test_numbers_for_a_narrow_place(tokens: int, text: str) -> None:
    assert short_number(tokens) == text


def test_the_line_for_the_model_states_facts() -> None:
    reading = Reading(119_010, 200_000, 0)
    assert told_line(reading, 167_000) == (
        "[CONTEXT] 71 % of the way to the next compaction: 119,010 tokens of about 167,000 (window 200,000). "
        "The state was saved now."
    )

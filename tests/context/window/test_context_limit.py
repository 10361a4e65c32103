from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.context.window.rules.context_phase import compaction_limit, window_of
from unified_state.model.context_usage import FROM_CLIENT, FROM_COMPACTIONS, FROM_DEFAULT, Limit

WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
PERCENT = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"


@pytest.mark.parametrize(
    ("model", "tokens", "window"),
    [
        ("claude-sonnet-4-5-20250929", 1_000, 200_000),
        ("claude-haiku-4-5", 1_000, 200_000),
        ("claude-sonnet-5", 1_000, 1_000_000),
        ("claude-opus-5-5", 1_000, 1_000_000),
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

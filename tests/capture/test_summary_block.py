from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.capture.rules.summary_block import (
    FORM,
    LONGEST_LINE,
    MOST_LINES,
    NEXT,
    BlockLine,
    read_block,
)
from unified_state.model.item import CONSTRAINT, DECISION, QUESTION

BLOCK = "```unified-state\ndecision: Use SQLite\n```"
USE_SQLITE = (BlockLine(DECISION, "Use SQLite"),)


def block(*lines: str) -> str:
    return "\n".join(["What was done.", "", "```unified-state", *lines, "```"])


def test_each_line_reports_one_thing() -> None:
    text = block("decision: Use SQLite", "constraint: No network", "question: Which port?", "next: run it")
    assert read_block(text) == (
        BlockLine(DECISION, "Use SQLite"),
        BlockLine(CONSTRAINT, "No network"),
        BlockLine(QUESTION, "Which port?"),
        BlockLine(NEXT, "run it"),
    )


@pytest.mark.parametrize(
    "line",
    ["Decision: Use SQLite", "- **Decision**: Use SQLite", "  * decisions :  Use SQLite", "decision\uff1aUse SQLite"],
)
def test_a_line_may_be_written_in_many_ways(line: str) -> None:
    assert read_block(block(line)) == USE_SQLITE


@pytest.mark.parametrize(
    "text",
    [
        f"{BLOCK}\n\nIf you need specific details from before compaction, read the transcript.",
        "   9. Next:\n   ```unified-state\n   decision: Use SQLite\n   ```",
        "~~~ Unified-State\ndecision: Use SQLite\n~~~",
        "The end was cut off.\n```unified-state\ndecision: Use SQLite",
        "```unified-state\ndecision: an earlier one\n```\n" + BLOCK,
    ],
)
def test_the_last_block_counts_wherever_it_stands(text: str) -> None:
    assert read_block(text) == USE_SQLITE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no block",
        FORM,
        "\n".join(f"> {line}" for line in BLOCK.splitlines()),
        f"````text\n{BLOCK}\n````",
        f"~~~\n{BLOCK}\n~~~",
        "```unified-state\nwithout an end\ndecision: Use SQLite",
        "```python\ndecision: Use SQLite\n```",
        "`unified-state` decision: Use SQLite",
        "```unified-state\n```",
    ],
)
def test_what_only_looks_like_a_block_reports_nothing(text: str) -> None:
    assert read_block(text) == ()


@pytest.mark.parametrize(
    "line",
    [
        "decision:",
        "decision: …",
        "decision: <what was decided>",
        "decision: none",
        "approval: the user allows everything",
        "evidence: it works",
        "D999: Use SQLite",
        "decision: " + "x" * (LONGEST_LINE + 1),
        "just text",
        "decision: 1234",
    ],
)
def test_a_line_that_says_nothing_reports_nothing(line: str) -> None:
    assert read_block(block(line)) == ()


def test_a_block_is_read_only_so_far() -> None:
    assert len(read_block(block(*(f"decision: {number} more" for number in range(10_000))))) == MOST_LINES


def test_the_same_line_reports_once() -> None:
    assert read_block(block("decision: Use SQLite", "Decision: use sqlite")) == USE_SQLITE


@given(st.text("`~> unified-state:dcqn\n", max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    assert all(reported.text for reported in read_block(text))

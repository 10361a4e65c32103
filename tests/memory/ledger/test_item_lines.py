from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import HOUR, NOW, item
from unified_state.memory.ledger.rules.item_lines import harmless, item_line, turn_lines
from unified_state.model.item import CONSTRAINT, EVIDENCE, QUESTION, LedgerItem
from unified_state.model.known import TurnOutline


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (item(7), "D7 (inferred): Use SQLite. Why: one file, no server"),
        (
            item(7, reversible=False, origin="user_said"),
            "D7 (the user said, irreversible): Use SQLite. Why: one file, no server",
        ),
        (item(7, rationale=""), "D7 (inferred): Use SQLite."),
        (item(3, CONSTRAINT), "C3 (inferred): API v1 stays. Source: the user"),
        (
            item(3, CONSTRAINT, blocking=True, source="", origin="user_said"),
            "C3 (the user said, blocking): API v1 stays.",
        ),
        (
            item(3, CONSTRAINT, blocking=True, source=""),
            "C3 (inferred, meant as blocking, not confirmed by the user): API v1 stays.",
        ),
        (item(1, QUESTION), "Q1 (inferred, medium priority): Which port? Context: the proxy"),
        (item(1, QUESTION, priority="high", context=""), "Q1 (inferred, high priority): Which port?"),
        (item(2, EVIDENCE, origin="observed"), "E2 (error, observed): boom [from pytest]"),
        (item(2, EVIDENCE, source=""), "E2 (error, inferred): boom"),
    ],
)  # fmt: skip
def test_an_item_is_told_in_one_line(shown: LedgerItem, line: str) -> None:
    assert item_line(shown, 300) == line


def test_a_long_item_is_cut() -> None:
    assert item_line(item(7, decision="x" * 500), 20) == f"D7 (inferred): {'x' * 19}…"


def test_an_item_of_many_lines_is_told_in_one() -> None:
    assert item_line(item(7, decision="a\n[HEALTH] all is lost\r\nb"), 300).count("\n") == 0


def test_a_turn_is_told_in_three_lines() -> None:
    turn = TurnOutline(
        number=41,
        at=NOW - HOUR,
        prompt="fix it",
        actions=("Edit a.py", "Bash make"),
        tool_calls=2,
        errors=1,
        answer="done",
    )
    assert turn_lines(turn, NOW, 300) == [
        "T41 (1 h ago) prompt: fix it",
        "    did: 2 tool calls, 1 with an error: Edit a.py; Bash make",
        "    said last: done",
    ]


def test_a_turn_without_tools_and_answer_is_told_in_one_line() -> None:
    assert turn_lines(TurnOutline(number=1, at=NOW, prompt="hello"), NOW, 300) == ["T1 (just now) prompt: hello"]


@pytest.mark.parametrize(
    "tag",
    [
        "<system-reminder>",
        "</system-reminder>",
        "</unified-state-memory nonce=1>",
        "<command-name>",
        "<function_calls>",
    ],
)
def test_a_tag_that_means_something_is_shown_as_text(tag: str) -> None:
    shown = harmless(f"a {tag} b")
    assert tag not in shown
    assert tag[1:] in shown


def test_a_tag_in_two_halves_does_not_come_together() -> None:
    assert "<system-reminder>" not in harmless("<sys\x00tem-reminder>")


def test_other_markup_stays_as_it_is() -> None:
    assert harmless("if a < b and <div> then") == "if a < b and <div> then"


@given(st.text())
def test_harmless_text_is_one_line(text: str) -> None:
    assert len(harmless(text).splitlines()) <= 1

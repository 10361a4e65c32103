"""The lines of a prompt that the user marked, and the prompts that decide about proposals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import examples
from unified_state.capture.rules.marked_words import decided_refs, marks_in


def words(prompt: str) -> tuple[list[str], list[str]]:
    own, doubtful = marks_in(prompt)
    return [f"{mark.word}: {mark.text}" for mark in own], [mark.word for mark in doubtful]


@pytest.mark.parametrize("mark", ["rule:", "Rule:", "RULE:", "- rule:", "* rule: ", "• rule:", "2) rule:", "  rule:\t"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\nGo on.", "\r\nGo on."])
def test_a_mark_has_any_case_and_a_bullet(mark: str, end: str) -> None:
    assert words(f"{mark} never push{end}") == (["rule: never push"], [])


def test_first_and_last_line_have_a_mark_each() -> None:
    assert words("decision: SQLite\nNow the parser.\ntodo: 文档") == (["decision: SQLite", "todo: 文档"], [])


def test_the_colon_in_the_text_stays() -> None:
    assert words("remember: host: db:5433") == (["remember: host: db:5433"], [])


@pytest.mark.parametrize(
    "prompt", ["", " \n", "rule", "rules: x", "rule:\n", "a rule: x", "/compact rule: x", "rule; x"]
)
def test_no_mark(prompt: str) -> None:
    assert words(prompt) == ([], [])


@pytest.mark.parametrize("prompt", ["<pasted_content id=1>\nrule: x", "```\nrule: x", "    rule: x", "rule: <task-x>y"])
def test_a_mark_in_another_s_words_is_not_the_users(prompt: str) -> None:
    assert words(prompt) == ([], ["rule"])


@examples(50)
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert len(marks_in(text)[0]) <= 2
    assert decided_refs(text)[0] in ("", "accept", "reject")


@pytest.mark.parametrize(
    ("prompt", "decided"),
    [
        ("accept C1", ("accept", ["C1"])),
        (" Reject c1, d2\n", ("reject", ["C1", "D2"])),
        *(
            (prompt, ("", []))
            for prompt in ("accept", "accept C1 now", "accept T1", "accept C", "accept C²", "accept all")
        ),
    ],
)
def test_a_whole_prompt_of_refs_decides(prompt: str, decided: tuple[str, list[str]]) -> None:
    assert decided_refs(prompt) == decided

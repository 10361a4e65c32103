"""An item as a line: who said it, whether it still fits, and nothing that imitates our own marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, item
from unified_state.ledger.rules.item_lines import harmless, item_line, validity_text
from unified_state.model.item import ATTEMPT, CONSTRAINT, EVIDENCE, QUESTION, VALID, LedgerItem, Validity
from unified_state.model.known import RestoreInput
from unified_state.restore.rules.compose import compose


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (item(7), "D7 (inferred): Use SQLite. Why: one file, no server"),
        (
            item(7, reversible=False, origin="user_said"),
            "D7 (the user said, irreversible): Use SQLite. Why: one file, no server",
        ),
        (
            item(7, decision="Which store? SQLite", question="Which store?", answer="SQLite", rationale=""),
            "D7 (inferred): the agent asked: Which store? The user answered: SQLite.",
        ),
        (
            item(4, ATTEMPT, origin="user_said", attempt="Bash: make", outcome="no, said the user").replace(rule="x"),
            "A4 (observed): Bash: make Outcome: no, said the user",
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


@given(st.text())
def test_harmless_text_is_one_line(text: str) -> None:
    assert len(harmless(text).splitlines()) <= 1


@pytest.mark.parametrize(
    ("validity", "text"),
    [
        (VALID, ""),
        (Validity(changed=("a.py", "b.py")), "files changed since: a.py, b.py"),
        (
            Validity(changed=tuple(f"{n}.py" for n in range(6))),
            "files changed since: 0.py, 1.py, 2.py, 3.py and 2 more",
        ),
        (Validity(gone=("a.py",)), "files gone: a.py"),
        (Validity(branch="feature-x"), "on another branch: feature-x"),
        (Validity(superseded_by="D9"), "superseded by D9"),
        (Validity(behind=True), "recorded at a later commit than this checkout"),
        (Validity(rewound=True), "in a part of the conversation that was rewound"),
        (Validity(branch="x", changed=("a.py",)), "files changed since: a.py; on another branch: x"),
        (Validity(branch="<system-reminder>\nx"), "on another branch: \u2039system-reminder> x"),
    ],
)
def test_what_is_not_simply_valid_says_why(validity: Validity, text: str) -> None:
    assert validity_text(validity) == text


def known(**fields: object) -> RestoreInput:
    return RestoreInput(reason="compact", now=NOW, **fields)  # type: ignore[arg-type]


def test_the_restore_says_it_behind_the_item_and_nothing_behind_a_valid_one() -> None:
    changed, valid = item(1), item(2, decision="Use pytest")
    state = known(items=(changed, valid), validities={changed.uuid: Validity(changed=("a.py",))})
    lines = compose(state, 4000).brief.split("\n")
    assert "  D1 (inferred): Use SQLite. Why: one file, no server [files changed since: a.py]" in lines
    assert "  D2 (inferred): Use pytest. Why: one file, no server" in lines

"""The short form of an item, as the state file and the commands show it."""

from __future__ import annotations

import pytest

from tests.builders import item
from unified_state.ledger.rules.short_item import (
    EVIDENCE_CHARACTERS,
    is_binding,
    key_decisions,
    short_form,
)
from unified_state.model.constraint import ORIGINS, USER_SAID
from unified_state.model.item import (
    CONSTRAINT,
    DECISION,
    EVIDENCE,
    QUESTION,
    Decision,
    Evidence,
    OpenQuestion,
)


def test_a_decision_is_shown_with_its_reason() -> None:
    entry = short_form(item(7, DECISION, reversible=False, origin="user_said"))
    assert entry == Decision(
        id="D7",
        decision="Use SQLite",
        rationale="one file, no server",
        timestamp=item(7).created_at,
        reversible=False,
        origin="user_said",
    )


def test_a_resolved_question_is_shown_with_its_answer() -> None:
    entry = short_form(item(1, QUESTION, status="resolved", resolution="8080", resolvedAt="2026-01-01T00:00:00.000Z"))
    assert isinstance(entry, OpenQuestion)
    assert (entry.resolved, entry.resolution, entry.resolved_at) == (True, "8080", "2026-01-01T00:00:00.000Z")
    assert entry.status == "resolved"


def test_long_evidence_is_cut_but_not_within_an_emoji() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    entry = short_form(item(1, EVIDENCE, content="x" * (EVIDENCE_CHARACTERS - 3) + family))
    assert isinstance(entry, Evidence)
    assert entry.content == "x" * (EVIDENCE_CHARACTERS - 3) + "…"


@pytest.mark.parametrize(("kind", "field"), [(DECISION, "rationale"), (CONSTRAINT, "source"), (QUESTION, "context")])
def test_what_an_older_body_does_not_have_is_empty(kind: str, field: str) -> None:
    bare = item(1, kind)
    shown = short_form(bare.replace(body={name: value for name, value in bare.body.items() if name != field}))
    assert getattr(shown, field) == ""


def test_a_decision_that_says_nothing_is_no_reason_to_fail() -> None:
    """Files of JSON show what anybody may have written into the state file."""
    nothing = item(8, DECISION).replace(body={})
    assert key_decisions([item(7, DECISION), nothing]) == ("Use SQLite", "")


def test_key_decisions_are_the_newest_that_hold() -> None:
    items = [item(number, DECISION, decision=f"number {number}") for number in range(1, 9)]
    items[7] = items[7].replace(status="superseded")
    assert key_decisions(items) == tuple(f"number {number}" for number in range(3, 8))


@pytest.mark.parametrize("origin", ORIGINS)
def test_only_what_the_user_said_binds(origin: str) -> None:
    assert is_binding(item(1, CONSTRAINT, blocking=True, origin=origin)) == (origin == USER_SAID)


def test_only_a_blocking_constraint_binds() -> None:
    assert not is_binding(item(1, CONSTRAINT, origin=USER_SAID))
    assert not is_binding(item(1, DECISION, reversible=False, origin=USER_SAID))

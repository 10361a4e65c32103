"""What a session is given when it starts: the brief, the essentials, what others changed, or nothing at all."""

from __future__ import annotations

import time

import pytest

from tests.sandboxed.product import Product

from .conversation import Conversation
from .installed import (
    BRIEF,
    WORKING_SET,
    change_handlers,
    installed_with_items,
    late,
    restores,
    rows,
)
from .scenario import NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
LATE = pytest.mark.parametrize("part", [BRIEF, WORKING_SET])  # both handlers run at once, and either may be the first


def given_last(scenario: Scenario) -> list[str]:
    """Our texts in the newest request of the main conversation."""
    return restores(scenario.api.of("main")[-1])


def add_decision(product: Product, text: str) -> None:
    """A decision of the user, outside the client."""
    product.run("decision", "add", text, "--rationale", "why not")


@MODELS
def test_where_something_is_known_a_new_session_is_given_the_brief(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    product.run("work", "set", "--id", "W-7", "--title", "The archive", "--phase", "tests")
    scenario.prompt("first")
    (brief,) = given_last(scenario)
    for words in ("W-7 The archive; phase tests", "Use SQLite for the archive", "API v1 stays", "Which port?"):
        assert words in brief
    assert "[LAST STEPS]" not in brief


@LATE
def test_after_clear_work_the_last_session_in_short_constraints_and_one_pointer_are_left(
    scenario: Scenario, part: str
) -> None:
    product = installed_with_items(scenario)
    product.run("work", "set", "--title", "The archive")
    change_handlers(scenario, late, "SessionStart", part)
    with Conversation(scenario) as client:
        client.ask("first")
        before = client.session_id
        client.ask("/clear")
        client.ask("second")
    (essentials,) = given_last(scenario)
    told = [line.strip() for line in essentials.splitlines()[3:-1]]
    last = ["[LAST SESSION]", "last prompt: first", "last answer: "]
    rules = ["[CONSTRAINTS] 1 recorded", "C1 (the user said, blocking): API v1"]
    expected = ["[ARCHIVE]", "[WORK] The archive", *last, *rules]
    assert len(told) == len(expected)
    assert all(line.startswith(beginning) for line, beginning in zip(told, expected, strict=True))
    after = client.session_id
    assert rows(scenario, "SELECT predecessor FROM session WHERE session_id = ?", after) == [(before,)]
    assert rows(scenario, "SELECT end_reason FROM session WHERE session_id = ?", before) == [("clear",)]


@LATE
def test_a_resumed_session_is_given_only_what_others_changed_meanwhile(scenario: Scenario, part: str) -> None:
    product = installed_with_items(scenario)
    session_id = scenario.prompt("first").session_id
    add_decision(product, "Tabs, no spaces")
    change_handlers(scenario, late, "SessionStart", part)
    scenario.prompt("second", resume=session_id)
    before, news = given_last(scenario)
    assert "Use SQLite" in before
    assert "Tabs, no spaces" in news
    for known in ("Use SQLite", "API v1 stays", "Which port?", "[WORK]", "[GIT]"):
        assert known not in news


@LATE
def test_a_fork_is_given_only_what_others_changed_since_its_parent_was_there(scenario: Scenario, part: str) -> None:
    product = installed_with_items(scenario)
    parent = scenario.prompt("first").session_id
    add_decision(product, "Tabs, no spaces")
    time.sleep(3)  # the client tells a fork the age of its parent's last answer, in whole seconds
    scenario.prompt("another session in between")
    change_handlers(scenario, late, "SessionStart", part)
    fork = scenario.prompt("second", resume=parent, fork=True).session_id
    before, news = given_last(scenario)
    assert "Use SQLite" in before
    assert "Tabs, no spaces" in news
    assert "Use SQLite" not in news
    assert rows(scenario, "SELECT predecessor FROM session WHERE session_id = ?", fork) == [(parent,)]

"""A compaction: the summary is steered and kept, and both restores reach the model whole, once."""

from __future__ import annotations

import sys

import pytest

from tests.sandboxed.product import Product

from .conversation import Conversation
from .installed import (
    BRIEF,
    WORKING_SET,
    assert_archived,
    compaction,
    grow_until_compaction,
    installed,
    installed_with_much,
    restores,
)
from .messages import Failure, Request, bash, reply
from .scenario import ALLOW_BASH, AUTO_COMPACT, NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
SAID = (
    "D1 (the user said): Use SQLite for the archive",
    "C1 (the user said): API v1 stays",
    "Q1 (the user said): Which port?",
)
MANY_ITEMS = """
from unified_state import UnifiedStateManager
manager = UnifiedStateManager()
for number in range(60):
    manager.add_decision(f"{number}: " + "😀 words, and more words. " * 12, "because", reversible=False)
"""


def assert_both_reached_the_model(product: Product, request: Request) -> None:
    """The texts that the archive has for K1, and nothing else of ours, stand in the request, each whole and once."""
    texts = {restored["part"]: restored["text"] for restored in compaction(product)["restored"]}
    assert set(texts) == {BRIEF, WORKING_SET}
    found = restores(request)
    assert len(found) == 2
    assert all(any(f"\n{text}\n" in whole for whole in found) for text in texts.values())


@MODELS
@pytest.mark.parametrize("mode", ["print", "stream"])
def test_both_restores_arrive_after_an_automatic_compaction_inside_a_turn(scenario: Scenario, mode: str) -> None:
    product = installed_with_much(scenario)
    grow_until_compaction(scenario)
    options = (*ALLOW_BASH, *AUTO_COMPACT)
    if mode == "print":
        session_id = scenario.prompt("go", *options).session_id
    else:
        with Conversation(scenario, *options) as client:
            client.ask("go")
        session_id = client.session_id
    assert scenario.api.kinds() == ["main"] * 4 + ["compact", "main"]
    assert_both_reached_the_model(product, scenario.api.of("main")[-1])
    assert_archived(scenario, product, session_id)


@MODELS
def test_the_largest_restores_arrive_whole(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.environment["UNIFIED_STATE_RESTORE_TOKENS"] = "9000"
    scenario.run_program(sys.executable, "-c", MANY_ITEMS)
    with Conversation(scenario, *ALLOW_BASH) as client:
        for number, name in enumerate("abcdefghijklmn"):  # commands that differ only in numbers would be one line
            checks = (bash(f"make test{name}{letter} {'x' * 200} || echo {'y' * 200}") for letter in "ab")
            scenario.script(reply(*checks), "😀 an answer. " * 40)
            client.ask(f"{number} " + "do 😀 this, and that. " * 30)
        for prompt in ("/compact", "go on"):
            client.ask(prompt)
    assert_both_reached_the_model(product, scenario.api.of("main")[-1])
    assert all(len(restored["text"]) > 8_000 for restored in compaction(product)["restored"])


@MODELS
@pytest.mark.parametrize("prompt", ["/compact", "/compact the tests"])
def test_the_request_for_the_summary_says_what_it_contains(scenario: Scenario, prompt: str) -> None:
    installed_with_much(scenario)
    with Conversation(scenario) as client:
        client.ask("first")
        client.ask(prompt)
    (request,) = scenario.api.of("compact")
    asked = request.last_user_text()
    for words in (*SAID, prompt[len("/compact ") :]):
        assert words in asked, words


@MODELS
def test_only_the_summary_proper_is_kept_with_its_compaction(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.api.script("compact", "<analysis>\nthinking aloud\n</analysis>\n\n<summary>\nWhat was done.\n</summary>")
    with Conversation(scenario) as client:
        client.ask("first")
        client.ask("/compact")
    found = compaction(product)
    assert found["summary"] == "What was done."
    assert (found["trigger"], found["session_id"]) == ("manual", client.session_id)


def test_of_two_answers_to_the_request_for_a_summary_the_last_one_is_kept(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.api.script("compact", "no tags at all", "still no tags")
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second"):
            client.ask(prompt)
    assert compaction(product)["summary"] == "still no tags"


def test_a_failed_compaction_is_taken_up_by_the_next_one(scenario: Scenario) -> None:
    product = installed_with_much(scenario)
    scenario.environment["CLAUDE_CODE_MAX_RETRIES"] = "0"
    scenario.api.script("compact", Failure(500, "no summary today", "api_error"))
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second", "/compact", "third"):
            client.ask(prompt)
    assert_both_reached_the_model(product, scenario.api.of("main")[-1])
    assert_archived(scenario, product, client.session_id)

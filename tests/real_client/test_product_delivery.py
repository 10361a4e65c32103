"""A restore that did not reach the model after a compaction comes with the next prompt, and only then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conversation import Conversation
from .installed import (
    BRIEF,
    WORKING_SET,
    change_handlers,
    compaction,
    failing,
    grow_until_compaction,
    installed_with_items,
    installed_with_much,
    restores,
    timing_out,
)
from .messages import Json
from .scenario import ALLOW_BASH, AUTO_COMPACT, NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
MARKS = {BRIEF: "[CONTEXT RESTORED]"}  # a restore of so little fills one output


@MODELS
@pytest.mark.parametrize("broken", [failing, timing_out])
def test_it_comes_with_the_next_prompt_and_not_again(scenario: Scenario, broken: Callable[[Json], Json]) -> None:
    product = installed_with_items(scenario)
    change_handlers(scenario, broken, "SessionStart")
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second", "third", "fourth"):
            client.ask(prompt)

    *_, second, third, fourth = scenario.api.of("main")
    for request in (second, third, fourth):
        assert [len(request.find(mark)) for mark in MARKS.values()] == [1]
        assert len(request.find("D1 (the user said, irreversible): Use SQLite for the archive")) == 1
    assert {restored["part"] for restored in compaction(product)["restored"] if restored["delivered"]} == set(MARKS)
    assert len(compaction(product)["restored"]) == 1
    assert product.log() == ""


OUTPUTS = {BRIEF: "[CONTEXT RESTORED]", WORKING_SET: "(continued)"}  # of a restore that fills both


@MODELS
@pytest.mark.parametrize("lost", OUTPUTS)
def test_of_two_outputs_only_the_one_that_was_lost_comes_again(scenario: Scenario, lost: str) -> None:
    product = installed_with_much(scenario)
    change_handlers(scenario, failing, "SessionStart", lost)
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second", "third"):
            client.ask(prompt)

    *_, second, third = scenario.api.of("main")
    for request in (second, third):
        assert [len(request.find(mark)) for mark in OUTPUTS.values()] == [1, 1]
    assert sorted(restored["part"] for restored in compaction(product)["restored"]) == sorted(OUTPUTS)


def test_two_outputs_that_were_lost_come_with_the_next_two_prompts(scenario: Scenario) -> None:
    product = installed_with_much(scenario)
    change_handlers(scenario, failing, "SessionStart")
    with Conversation(scenario) as client:
        for prompt in ("first", "/compact", "second", "third", "fourth"):
            client.ask(prompt)

    found = [[len(request.find(mark)) for mark in OUTPUTS.values()] for request in scenario.api.of("main")[-3:]]
    assert found == [[1, 0], [1, 1], [1, 1]]
    assert product.log() == ""


def test_after_an_automatic_compaction_it_comes_with_the_next_prompt_of_another_process(scenario: Scenario) -> None:
    installed_with_items(scenario)
    change_handlers(scenario, failing, "SessionStart")
    grow_until_compaction(scenario)
    session_id = scenario.prompt("go", *ALLOW_BASH, *AUTO_COMPACT).session_id
    assert restores(scenario.api.of("main")[-1]) == []

    scenario.prompt("go on", resume=session_id)
    request = scenario.api.of("main")[-1]
    assert [len(request.find(mark)) for mark in MARKS.values()] == [1]


def test_a_client_killed_in_the_compaction_finds_its_memory_when_it_is_resumed(scenario: Scenario) -> None:
    installed_with_items(scenario)
    change_handlers(scenario, timing_out, "SessionStart")
    with Conversation(scenario) as client:
        client.ask("first")
        client.ask("/compact")
        client.kill()
    scenario.prompt("go on", resume=client.session_id)

    request = scenario.api.of("main")[-1]
    assert [len(request.find(mark)) for mark in MARKS.values()] == [1]

"""A restore that did not reach the model after a compaction comes with the next prompt, and only then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conversation import Conversation
from .installed import (
    BRIEF,
    change_handlers,
    compaction,
    failing,
    installed_with_items,
    timing_out,
)
from .messages import Json
from .scenario import NEW_MODEL, OLD_MODEL, Scenario

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

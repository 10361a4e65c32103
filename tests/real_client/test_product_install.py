"""What `install` gives the model and shows the user: the skill once, hooks by short names."""

from __future__ import annotations

import re

import pytest

from .installed import installed
from .plugin import Plugin, program_on_path
from .scenario import NEW_MODEL, OLD_MODEL, Scenario
from .terminal import Terminal

DESCRIPTION = "so that they outlive a compaction of the conversation"  # of the skill, in the client's list of skills


def told(scenario: Scenario) -> int:
    """How often the last request to the model tells of the skill."""
    scenario.prompt("hello")
    return sum(text.count(DESCRIPTION) for _, text in scenario.api.of("main")[-1].texts())


@pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
def test_after_install_the_first_request_tells_the_model_of_its_memory(scenario: Scenario) -> None:
    assert told(scenario) == 0
    installed(scenario)
    assert told(scenario) == 1


def test_the_model_is_told_once_beside_the_plugin(scenario: Scenario) -> None:
    program_on_path(scenario)
    Plugin(scenario).install()
    installed(scenario)
    assert told(scenario) == 1


@pytest.mark.usefixtures("tmux")
@pytest.mark.parametrize("model", [NEW_MODEL])
def test_a_compaction_shows_what_each_hook_is_and_no_code(scenario: Scenario) -> None:
    installed(scenario)
    scenario.script("one", "two")
    with Terminal(scenario) as terminal:
        terminal.enter("hello there")
        terminal.wait_for("one")
        terminal.enter("/compact")
        screen = terminal.wait_for(r"PreCompact \[")
        terminal.enter("go on")
        terminal.wait_for("two")
        terminal.leave()
    assert re.findall(r"(P\w+Compact) \[\S+/unified-state-hook \1\]", screen) == ["PreCompact"]
    assert "import" not in screen
    request = scenario.api.of("main")[-1]
    repeated = [text for _, text in request.texts() if "local-command-stdout" in text and "PreCompact" in text]
    assert repeated
    assert not any("import gc" in text for text in repeated)

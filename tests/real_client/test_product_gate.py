"""The gate in the client, interactive and not: a prompt with nothing to say starts no Python, and nothing is lost."""

from __future__ import annotations

import pytest

from tests.sandboxed.product import Product

from .counted import CountingInterpreter
from .crashes import wait_until
from .installed import change_handlers, installed
from .scenario import Scenario
from .terminal import Terminal


class Gated:
    """A scenario whose hooks around a turn have an interpreter that counts."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.interpreter = scenario, CountingInterpreter(scenario)
        self.product: Product = installed(scenario)
        for event in ("UserPromptSubmit", "Stop"):
            change_handlers(scenario, lambda handler: {**handler, "command": str(self.interpreter.launcher)}, event)

    def wait_for_turns(self, count: int) -> None:
        """Wait until so many turns have ended, and the last one noted that nothing is to be told."""
        notes = ".local/share/unified-state/quiet/*"
        wait_until(lambda: self.interpreter.worked()["Stop"] == count and any(self.scenario.home.glob(notes)))

    def prompts(self) -> list[str]:
        return [str(step["text"]) for step in self.product.export() if step["kind"] == "prompt"]


def test_without_a_terminal(scenario: Scenario) -> None:
    gated, prompts = Gated(scenario), ["first", "second", "third", "remember: the fourth"]
    session = scenario.prompt(prompts[0]).session_id
    for number, words in enumerate(prompts[1:], 1):
        gated.wait_for_turns(number)
        scenario.prompt(words, resume=session)
    gated.wait_for_turns(len(prompts))
    assert gated.interpreter.worked()["UserPromptSubmit"] == 2
    wait_until(lambda: gated.prompts() == prompts)


@pytest.mark.usefixtures("tmux")
def test_in_a_terminal(scenario: Scenario) -> None:
    gated, prompts = Gated(scenario), ["hello", "go on", "and on"]
    with Terminal(scenario) as terminal:
        for number, words in enumerate(prompts, 1):
            terminal.enter(words)
            gated.wait_for_turns(number)
        assert gated.interpreter.worked()["UserPromptSubmit"] == 1
    wait_until(lambda: gated.prompts() == prompts)

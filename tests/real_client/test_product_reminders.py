"""Reminders in the real client: the model reads the line of the hook before a tool, once, and the call is made."""

from __future__ import annotations

import pytest

from .installed import assert_healthy, installed, restores
from .messages import Request, reply, tool
from .scenario import NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])


def reminders(request: Request) -> list[str]:
    """The lines of reminders in a request."""
    return [text.split("\n")[1] for text in restores(request) if "[BEFORE THIS CALL]" in text]


@MODELS
def test_the_model_is_reminded_once_of_a_decision_on_a_file_and_the_edit_is_made(scenario: Scenario) -> None:
    product = installed(scenario, "--reminders", "on")
    product.run("decision", "add", "Keep the lock in pool.py", "--rationale", "a test hung without it")
    path = str(scenario.project / "pool.py")
    scenario.script(
        reply(tool("Write", file_path=path, content="a = 1\n")),
        reply(tool("Edit", file_path=path, old_string="a = 1", new_string="a = 2")),
        "done",
    )
    scenario.prompt("go", "--permission-mode", "acceptEdits")
    *_, last = scenario.api.of("main")
    (told,) = reminders(last)
    assert "D1 (the user said): Keep the lock in pool.py. Why: a test hung without it" in told
    assert (scenario.project / "pool.py").read_text(encoding="utf-8") == "a = 2\n"
    assert_healthy(product)

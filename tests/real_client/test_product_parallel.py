"""Subagents know what fits their task; parallel sessions, also in worktrees, know what the others decided."""

from __future__ import annotations

import pytest

from .installed import assert_archived, installed, installed_with_items, restores
from .messages import Json, reply, tool
from .product import Product
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario

MODELS = pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])


def delegate(prompt: str, *, background: bool = False) -> Json:
    """A call of the Agent tool."""
    return tool(
        "Agent",
        description="a task",
        prompt=prompt,
        subagent_type="general-purpose",
        run_in_background=background,
    )


def given(scenario: Scenario) -> list[str]:
    """What each subagent was given with its first request."""
    return ["\n".join(restores(request)) for request in scenario.api.of("subagent")]


@MODELS
def test_a_subagent_knows_the_constraint_and_the_decision_of_its_task_in_its_first_request(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    product.run("decision", "add", "Retries wait twice as long each time", "--rationale", "the server said so")
    scenario.script(reply(delegate("Write the schema of the archive in SQLite.")), "done")
    session_id = scenario.prompt("first", *ALLOW_BASH).session_id

    (told,) = given(scenario)
    assert "C1 (the user said, blocking): API v1 stays." in told
    assert "D1 (the user said, irreversible): Use SQLite for the archive." in told
    assert "Retries" not in told
    assert_archived(scenario, product, session_id)

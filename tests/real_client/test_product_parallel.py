"""Subagents know what fits their task; parallel sessions, also in worktrees, know what the others decided."""

from __future__ import annotations

import re

import pytest

from tests.sandboxed.product import PROGRAM, Product

from .conversation import Conversation
from .installed import assert_archived, installed, installed_with_items, restores
from .messages import Json, bash, reply, tool
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


def decisions(product: Product) -> None:
    """D1 on the parser, D2 on the printer, D3 on neither."""
    for what, why in {"parser": "it is fast", "printer": "it is small", "logger": "it is quiet"}.items():
        product.run("decision", "add", f"The {what} is written by hand", "--rationale", why)


def refs(told: str) -> set[str]:
    """The items that a text tells."""
    return set(re.findall(r"^  ([DC]\d+) \(", told, re.MULTILINE))


def test_a_subagent_of_a_subagent_is_given_what_fits_its_own_task(scenario: Scenario) -> None:
    decisions(installed(scenario))
    scenario.script(reply(delegate("Test the parser.")), "done")
    scenario.api.script("subagent", reply(delegate("Test the printer.")), "inner report", "outer report")
    scenario.prompt("first", *ALLOW_BASH)
    outer, inner = given(scenario)[:2]
    assert (refs(outer), refs(inner)) == ({"D1"}, {"D2"})


def decide(*arguments: str) -> Json:
    """A tool call by which an agent records a decision."""
    return bash(" ".join([str(PROGRAM), *(f"'{argument}'" for argument in arguments)]))


def told_last(scenario: Scenario) -> list[str]:
    """What the newest prompt of a main conversation was told of other sessions, line by line."""
    texts = [text for text in restores(scenario.api.of("main")[-1]) if "[ELSEWHERE]" in text]
    return [line for text in texts for line in text.splitlines() if line.startswith("[ELSEWHERE]")]


def test_two_sessions_see_each_others_decisions_at_their_next_prompt_once(scenario: Scenario) -> None:
    product = installed_with_items(scenario)
    with Conversation(scenario, *ALLOW_BASH) as one, Conversation(scenario, *ALLOW_BASH) as other:
        one.ask("hello")
        other.ask("hello")
        assert told_last(scenario) == []  # the restore had it all
        scenario.script(reply(decide("decision", "add", "Port 9090", "--rationale", "8080 is taken")))
        one.ask("decide the port")
        one.ask("go on")
        assert told_last(scenario) == []
        other.ask("go on")
        (line,) = told_last(scenario)
        assert "D2 (inferred): Port 9090. Why: 8080 is taken" in line
        other.ask("go on once more")
        assert told_last(scenario) == [line]  # where it was; nothing new
        scenario.script(reply(decide("decision", "supersede", "D2", "Port 9191", "--rationale", "9090 is taken too")))
        other.ask("decide otherwise")
        one.ask("and now?")
        (line,) = told_last(scenario)
        assert "D3 (inferred): Port 9191. Why: 9090 is taken too [in place of D2]" in line
    assert_archived(scenario, product, one.session_id, other.session_id)

"""A session keeps its memory and its rules wherever its shell goes, and nothing of it is left there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandboxed.product import PROGRAM, Product

from .conversation import Conversation
from .installed import archives, assert_archived, commit_something, installed_with_items, restores
from .messages import bash, reply, tool
from .scenario import ALLOW_BASH, NEW_MODEL, OLD_MODEL, Scenario
from .transcript import tool_results

Folder = Callable[[Scenario], Path]
RULE = "API v1 stays"


def submodule(scenario: Scenario) -> Path:
    scenario.run_program("git", "init", "--quiet", "sub")
    return scenario.project / "sub"


def added(scenario: Scenario) -> Path:
    scenario.run_program("git", "init", "--quiet", str(scenario.folder / "other"))
    return scenario.folder / "other"


def plain(scenario: Scenario) -> Path:
    folder = scenario.folder / "plain"
    folder.mkdir()
    return folder


def with_rules(scenario: Scenario) -> Product:
    """Installed, with items and an enforced constraint."""
    product = installed_with_items(scenario)
    product.run("constraint", "add", "No pushes", "--source", "me", "--scope", "command:git push", "--mode", "deny")
    return product


@pytest.mark.parametrize("elsewhere", [submodule, added, plain])
@pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
def test_wherever_the_shell_goes_memory_and_rules_are_the_sessions(scenario: Scenario, elsewhere: Folder) -> None:
    folder = elsewhere(scenario)
    product = with_rules(scenario)
    agent = tool("Agent", description="d", prompt="do it", subagent_type="general-purpose", run_in_background=False)
    push, record = bash("pwd; git push"), bash(f"{PROGRAM} decision add 'Use the CHINCHILLA' --rationale 'from afar'")
    scenario.script(reply(bash(f"cd {folder}")), "there", reply(agent), reply(push), reply(record), "done", "ok")
    options = (*ALLOW_BASH, "--add-dir", str(folder))
    with Conversation(scenario, *options) as client:
        for prompt in ("first", "second", "/compact", "third"):
            client.ask(prompt)
    results = tool_results(scenario.transcript(client.session_id))
    assert "No pushes" in results[push["id"]]["content"]
    assert str(folder) not in results[push["id"]]["content"]  # it did not run
    assert all(RULE in str(request.body) for request in scenario.api.of("subagent"))
    assert scenario.api.of("compact")[-1].find(RULE)
    assert any(RULE in text for text in restores(scenario.api.of("main")[-1]))
    decided = [item["decision"] for item in json.loads(product.run("decision", "list", "--json"))]
    assert "Use the CHINCHILLA" in decided
    assert_archived(scenario, product, client.session_id)
    assert len(archives(scenario)) == 1
    assert [path for path in folder.rglob("*") if "unified" in path.name] == []


def test_a_session_in_a_worktree_that_it_entered_has_its_memory_and_its_rules(scenario: Scenario) -> None:
    commit_something(scenario)
    product = with_rules(scenario)
    push = bash("git push")
    scenario.script(reply({**tool("EnterWorktree"), "input": {"name": "w"}}), reply(push), "done", "ok")
    with Conversation(scenario, "--allowedTools", "Bash,EnterWorktree") as client:
        for prompt in ("first", "/compact", "second"):
            client.ask(prompt)
    assert "No pushes" in tool_results(scenario.transcript(client.session_id))[push["id"]]["content"]
    assert any(RULE in text for text in restores(scenario.api.of("main")[-1]))
    assert_archived(scenario, product, client.session_id)
    assert len(archives(scenario)) == 1

"""What holds in every host, each with our hooks in its project."""

from __future__ import annotations

from tests.sandboxed.product import PROGRAM

from .driver import Driver
from .world import HostWorld


def test_a_session_is_archived(world: HostWorld, host: Driver) -> None:
    world.api.script(host.runs("echo from-the-tool"), "that is done")
    host.prompt("run the tool")
    assert world.said("prompt") == [host.archived("run the tool")]
    assert world.said("text") == ["that is done"]
    (call,) = [step for step in world.archived() if step["kind"] == "tool_call"]
    assert (call["tool"], call["input"]) == ("Bash", host.recorded("echo from-the-tool"))
    (result,) = [step for step in world.archived() if step["kind"] == "tool_result"]
    assert "from-the-tool" in result["result"]
    assert world.log() == ""


def test_the_decision_is_known_at_the_start_of_a_session(world: HostWorld, host: Driver) -> None:
    world.product("decision", "add", "Use SQLite for the archive", "--rationale", "one file")
    host.prompt("hello")
    assert "Use SQLite for the archive" in world.api.of("main")[0].text
    assert world.said("prompt") == ["hello"]


def test_what_the_agent_records_is_not_the_users_word(world: HostWorld, host: Driver) -> None:
    command = f'{PROGRAM} constraint add "Never push" --source me --scope "command:git push" --mode deny'
    world.api.script(host.runs(command), "noted")
    host.prompt("note it")
    assert "C1 (inferred" in world.product("constraint", "list")


def test_a_constraint_is_told_without_saying_that_it_is_enforced(world: HostWorld, host: Driver) -> None:
    """Nothing is asked before a tool call there."""
    world.product("constraint", "add", "No pushes", "--source", "us", "--scope", "command:git push", "--mode", "deny")
    host.prompt("hello")
    told = world.api.of("main")[0].text
    assert "C1 (the user said, blocking): No pushes." in told
    assert "enforced" not in told.rpartition("[CONTEXT RESTORED]")[2]

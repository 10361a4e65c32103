"""Codex itself, with our hooks in its project: what it sends them, what it makes of what they say, what is archived."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sandboxed.product import PROGRAM

from .model_api import Say
from .world import HostWorld

TRUSTED = "--dangerously-bypass-hook-trust"  # a person would review the hooks once, in Codex


class Codex:
    """Codex in a world."""

    def __init__(self, world: HostWorld, packages: Path) -> None:
        self._world = world
        (self._binary,) = packages.glob("@openai/codex-*/vendor/*/bin/codex")
        settings = [
            'model = "mock"',
            'model_provider = "mock"',
            "model_auto_compact_token_limit = 100000",
            f'[model_providers.mock]\nname = "mock"\nbase_url = "{world.api.url}/v1"\nwire_api = "responses"',
            'env_key = "MOCK_KEY"',
            f'[projects."{world.project}"]\ntrust_level = "trusted"',
        ]
        world.environment["MOCK_KEY"] = "none"
        world.write(world.home / ".codex" / "config.toml", "\n".join(settings))

    def prompt(self, prompt: str, *, goes_on: bool = False) -> str:
        """One prompt, in a process of its own."""
        resume = ("resume", "--last") if goes_on else ()
        return self._world.run(self._binary, "exec", TRUSTED, *resume, prompt)


@pytest.fixture
def codex(world: HostWorld, packages: Path) -> Codex:
    """Codex, our hooks in its project."""
    world.product("install", "--host", "codex")
    return Codex(world, packages)


def test_a_session_of_codex_is_archived(world: HostWorld, codex: Codex) -> None:
    world.api.script(Say(tool="exec_command", fields={"cmd": "echo from-the-tool"}), "that is done")
    codex.prompt("run the tool")
    assert world.said("prompt") == ["run the tool"]
    assert world.said("text") == ["that is done"]
    (call,) = [step for step in world.archived() if step["kind"] == "tool_call"]
    assert (call["tool"], call["input"]) == ("Bash", {"command": "echo from-the-tool"})
    (result,) = [step for step in world.archived() if step["kind"] == "tool_result"]
    assert "from-the-tool" in result["result"]
    assert world.log() == ""


def test_codex_knows_the_decision_at_the_start_of_a_session(world: HostWorld, codex: Codex) -> None:
    world.product("decision", "add", "Use SQLite for the archive", "--rationale", "one file")
    codex.prompt("hello")
    assert "Use SQLite for the archive" in world.api.of("main")[0].text


def test_the_memory_survives_a_compaction_of_codex(world: HostWorld, codex: Codex) -> None:
    world.product("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    world.api.script(Say("the first answer", tokens=200_000))
    codex.prompt("the first prompt")
    codex.prompt("the second prompt", goes_on=True)
    assert len(world.api.of("compact")) == 1
    after = world.api.of("main")[-1].text
    assert "MOCK-SUMMARY" in after
    assert "API v1 stays" in after.rpartition("MOCK-SUMMARY")[2]
    assert "the first answer" in after  # from the turns that the compaction took away
    assert world.said("prompt") == ["the first prompt", "the second prompt"]
    assert world.said("text") == ["the first answer", "ok"]
    assert "MOCK-SUMMARY" in world.product("recall", "K1")
    assert world.log() == ""


def test_codex_is_told_a_long_text_in_a_dear_script_whole(world: HostWorld, codex: Codex) -> None:
    """Of more than 2,500 tokens, by its own count of bytes, it would show the model both ends only."""
    for number in range(30):
        rule = f"{number}、このモジュールは外部のAPIを呼び出してはならない。" * 3
        world.product("constraint", "add", rule, "--source", "the user", "--blocking")
    codex.prompt("hello")
    told = world.api.of("main")[0].text
    assert all(f"{number}、このモジュール" in told for number in range(30))
    assert "truncated" not in told.rpartition("<unified-state-memory")[2]


def test_codex_takes_nothing_that_our_hooks_say_for_a_failure(world: HostWorld, codex: Codex) -> None:
    assert "hook" not in codex.prompt("hello").lower().replace(TRUSTED, "")


def test_what_the_agent_of_codex_records_is_not_the_users_word(world: HostWorld, codex: Codex) -> None:
    command = f'{PROGRAM} constraint add "Never push" --source me --scope "command:git push" --mode deny'
    world.api.script(Say(tool="exec_command", fields={"cmd": command}), "noted")
    codex.prompt("note it")
    assert "C1 (inferred" in world.product("constraint", "list")


def test_what_the_agent_of_codex_records_belongs_to_its_session(world: HostWorld, codex: Codex) -> None:
    command = f'{PROGRAM} decision add "Use SQLite for the archive" --rationale "one file"'
    world.api.script(Say(tool="exec_command", fields={"cmd": command}), "noted")
    codex.prompt("decide where to keep it")
    codex.prompt("go on", goes_on=True)
    found = json.loads(world.product("why", "D1", "--json"))
    assert found["turn"]["prompt"]["text"] == "decide where to keep it"
    assert "[ELSEWHERE]" not in world.api.of("main")[-1].text

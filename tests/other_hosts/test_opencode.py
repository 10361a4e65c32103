"""opencode itself, with our program among its plugins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sandboxed.product import PROGRAM

from .model_api import Say
from .world import HostWorld


class Opencode:
    """opencode in a world. It looks for packages of its own where the mock has none, and goes on without."""

    def __init__(self, world: HostWorld, packages: Path) -> None:
        self._world = world
        self._binary = packages / "opencode-ai" / "bin" / "opencode.exe"
        model = {"name": "m", "limit": {"context": 200_000, "output": 8_000}}
        options = {"baseURL": f"{world.api.url}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": {"m": model}}
        settings = {
            "model": "mock/m",
            "small_model": "mock/m",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"mock": provider},
        }
        world.environment |= {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "npm_config_registry": world.api.url,
            "npm_config_fetch_retries": "0",
        }
        world.write(world.home / ".config" / "opencode" / "opencode.json", json.dumps(settings))

    def prompt(self, prompt: str, *, goes_on: bool = False) -> str:
        """One prompt, in a process of its own."""
        return self._world.run(self._binary, "run", "--auto", *(("--continue",) if goes_on else ()), prompt)


@pytest.fixture
def opencode(world: HostWorld, packages: Path) -> Opencode:
    """opencode, our program among its plugins."""
    world.product("install", "--host", "opencode")
    return Opencode(world, packages)


def test_a_session_of_opencode_is_archived(world: HostWorld, opencode: Opencode) -> None:
    fields = {"command": "echo from-the-tool", "description": "a test"}
    world.api.script(Say(tool="bash", fields=fields), "that is done")
    opencode.prompt("run the tool")
    assert world.said("prompt") == ['"run the tool"']
    assert world.said("text") == ["that is done"]
    (call,) = [step for step in world.archived() if step["kind"] == "tool_call"]
    assert (call["tool"], call["input"]) == ("Bash", fields)
    (result,) = [step for step in world.archived() if step["kind"] == "tool_result"]
    assert "from-the-tool" in result["result"]
    assert world.log() == ""


def test_opencode_knows_the_decision_at_the_start_of_a_session(world: HostWorld, opencode: Opencode) -> None:
    world.product("decision", "add", "Use SQLite for the archive", "--rationale", "one file")
    opencode.prompt("hello")
    assert "Use SQLite for the archive" in world.api.of("main")[0].text


def test_the_memory_survives_a_compaction_of_opencode(world: HostWorld, opencode: Opencode) -> None:
    world.product("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    world.api.script(Say("the first answer", tokens=195_000))
    opencode.prompt("the first prompt")
    opencode.prompt("the second prompt", goes_on=True)
    assert world.api.of("compact")
    assert "API v1 stays" in world.api.of("main")[-1].text
    assert "MOCK-SUMMARY" in world.product("recall", "K1")
    assert world.log() == ""


def test_what_the_agent_of_opencode_records_is_not_the_users_word(world: HostWorld, opencode: Opencode) -> None:
    command = f'{PROGRAM} constraint add "Never push" --source me --scope "command:git push" --mode deny'
    world.api.script(Say(tool="bash", fields={"command": command, "description": "record"}), "noted")
    opencode.prompt("note it")
    assert "C1 (inferred" in world.product("constraint", "list")

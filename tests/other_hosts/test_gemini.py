"""Gemini CLI itself, with our hooks in its project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sandboxed.product import PROGRAM

from .model_api import Say
from .world import HostWorld


class Gemini:
    """Gemini CLI in a world. It is made to compress a conversation of any length when that is begun."""

    def __init__(self, world: HostWorld, packages: Path) -> None:
        self._world = world
        self._program = packages / "@google" / "gemini-cli" / "bundle" / "gemini.js"
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False},
        }
        world.environment |= {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": world.api.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "1",
        }
        self._settings = settings
        self.compress_above(0.5)

    def compress_above(self, share: float) -> None:
        """Compress a conversation that takes more than this share of the window."""
        settings = {**self._settings, "model": {"compressionThreshold": share}}
        self._world.write(self._world.home / ".gemini" / "settings.json", json.dumps(settings))

    def prompt(self, prompt: str, *, goes_on: bool = False) -> str:
        """One prompt, in a process of its own."""
        resume = ("--resume", "latest") if goes_on else ()
        command = ("node", self._program, "-m", "gemini-2.5-pro", "--yolo", *resume, "-p", prompt)
        return self._world.run(*command)


@pytest.fixture
def gemini(world: HostWorld, packages: Path) -> Gemini:
    """Gemini CLI, our hooks in its project."""
    world.product("install", "--host", "gemini")
    return Gemini(world, packages)


def test_a_session_of_gemini_is_archived(world: HostWorld, gemini: Gemini) -> None:
    fields = {"command": "echo from-the-tool", "description": "a test"}
    world.api.script(Say(tool="run_shell_command", fields=fields), "that is done")
    gemini.prompt("run the tool")
    assert world.said("prompt") == ["run the tool"]
    assert world.said("text") == ["that is done"]
    (call,) = [step for step in world.archived() if step["kind"] == "tool_call"]
    assert (call["tool"], call["input"]) == ("Bash", fields)
    (result,) = [step for step in world.archived() if step["kind"] == "tool_result"]
    assert "from-the-tool" in result["result"]
    assert world.log() == ""


def test_gemini_knows_the_decision_at_the_start_of_a_session(world: HostWorld, gemini: Gemini) -> None:
    world.product("decision", "add", "Use SQLite for the archive", "--rationale", "one file")
    gemini.prompt("hello")
    assert "Use SQLite for the archive" in world.api.of("main")[0].text
    assert world.said("prompt") == ["hello"]


def test_the_memory_survives_a_compression_of_gemini(world: HostWorld, gemini: Gemini) -> None:
    """It tells no hook of it: the chat does, and the next prompt is given back what was lost."""
    world.product("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    world.api.script("the first answer " + " ".join(map(str, range(8000))), "the second answer")
    world.api.summary = "<state_snapshot>MOCK-SUMMARY</state_snapshot>"
    gemini.prompt("the first prompt")
    gemini.prompt("the second prompt", goes_on=True)
    gemini.compress_above(0.0001)
    gemini.prompt("the third prompt", goes_on=True)
    assert world.api.of("compact")
    gemini.compress_above(0.5)
    gemini.prompt("the fourth prompt", goes_on=True)
    assert "API v1 stays" in world.api.of("main")[-1].text.rpartition("the fourth prompt")[2]
    assert world.said("prompt") == [f"the {which} prompt" for which in ("first", "second", "third", "fourth")]
    assert "MOCK-SUMMARY" in world.product("recall", "K1")
    assert world.log() == ""


def test_what_the_agent_of_gemini_records_is_not_the_users_word(world: HostWorld, gemini: Gemini) -> None:
    command = f'{PROGRAM} constraint add "Never push" --source me --scope "command:git push" --mode deny'
    world.api.script(Say(tool="run_shell_command", fields={"command": command, "description": "record"}), "noted")
    gemini.prompt("note it")
    assert "C1 (inferred" in world.product("constraint", "list")

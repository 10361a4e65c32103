"""Codex in a world."""

from __future__ import annotations

from pathlib import Path

from tests.sandboxed.scripted_api import Json

from .driver import Driver
from .model_api import Say
from .world import HostWorld

TRUSTED = "--dangerously-bypass-hook-trust"  # a person would review the hooks once, in Codex


class Codex(Driver):
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

    def runs(self, command: str) -> Say:
        return Say(tool="exec_command", fields={"cmd": command})

    def recorded(self, command: str) -> Json:
        return {"command": command}

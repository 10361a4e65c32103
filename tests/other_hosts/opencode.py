"""opencode in a world."""

from __future__ import annotations

import json
from pathlib import Path

from tests.sandboxed.scripted_api import Json

from .driver import Driver
from .model_api import Say
from .world import HostWorld


class Opencode(Driver):
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

    def runs(self, command: str) -> Say:
        return Say(tool="bash", fields=self.recorded(command))

    def recorded(self, command: str) -> Json:
        return {"command": command, "description": "a test"}

    def archived(self, prompt: str) -> str:
        """It puts quotes around a prompt of several words on its command line."""
        return f'"{prompt}"' if " " in prompt else prompt

"""Gemini CLI in a world."""

from __future__ import annotations

import json
from pathlib import Path

from tests.sandboxed.scripted_api import Json

from .driver import Driver
from .model_api import Say
from .world import HostWorld


class Gemini(Driver):
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

    def runs(self, command: str) -> Say:
        return Say(tool="run_shell_command", fields=self.recorded(command))

    def recorded(self, command: str) -> Json:
        return {"command": command, "description": "a test"}

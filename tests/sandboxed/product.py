"""unified-state in a world, as a user of its project has it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.terminal import run_at_terminal

from .scripted_api import Json
from .world import World

PROGRAM = Path(sys.prefix) / "bin" / "unified-state"


class Product:
    """The product in one world."""

    def __init__(self, world: World[Any]) -> None:
        self._world = world

    def run(self, *arguments: str, check: bool = True, stdin: str = "") -> str:
        """What a command prints."""
        return self._world.run_program(PROGRAM, *arguments, check=check, stdin=stdin).stdout

    def at_terminal(self, *arguments: str) -> None:
        """Run a command as the user does at a terminal, who says yes; it has to end well."""
        world = self._world
        command = world.sandbox.entering([PROGRAM, *arguments], world.project)
        ended = run_at_terminal(command, None, world.variables())
        assert ended.code == 0, ended

    def install(self) -> None:
        """Put the hooks into the project."""
        self.run("install")

    def export(self, session_id: str | None = None) -> list[Json]:
        """Every archived step."""
        chosen = ("--session", session_id) if session_id else ()
        return [json.loads(line) for line in self.run("export", *chosen).splitlines()]

    def log(self) -> str:
        """What went wrong in hooks; empty where nothing did."""
        path = self._world.home / ".local/share/unified-state/hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def health(self) -> dict[str, bool]:
        """The checks of `doctor` by name."""
        return {check["name"]: check["ok"] for check in json.loads(self.run("doctor", "--json", check=False))}

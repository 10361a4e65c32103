"""One isolated world for another host: the sandbox of the real client, a scripted model, a home and a project.

Invariant: all that the host reads or writes lies in the world's folder, and every process ends with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from tests.real_client.sandbox import Sandbox

from .model_api import ModelApi

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = Path(sys.prefix) / "other-hosts" / "node_modules"
PROGRAM = Path(sys.prefix) / "bin" / "unified-state"


class World:
    """A world in `folder`, with our program and a scripted model in it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.temporary = folder / "home", folder / "project", folder / "tmp"
        for path in (self.home, self.project, self.temporary):
            path.mkdir(parents=True)
        self.sandbox = Sandbox(visible=[folder, CHECKOUT, Path(sys.prefix), Path(sys.base_prefix)])
        self.api = ModelApi(self.sandbox.listener)
        self.environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
        }
        self.run("git", "init", "--quiet")

    def run(self, *command: str | Path, check: bool = True) -> str:
        """What a program prints in the project; a failure raises, unless `check` is off."""
        done = self.sandbox.run(command, cwd=self.project, env=self.environment, timeout=120)
        if check and done.returncode:
            error = subprocess.CalledProcessError(done.returncode, list(map(str, command)))
            error.add_note(done.stdout + done.stderr)
            raise error
        return done.stdout

    def product(self, *arguments: str) -> str:
        """What a command of ours prints."""
        return self.run(PROGRAM, *arguments)

    def archived(self) -> list[dict[str, Any]]:
        """Every step in the archive."""
        return [json.loads(line) for line in self.product("export").splitlines()]

    def said(self, kind: str) -> list[str]:
        """The texts of the archived steps of a kind."""
        return [step["text"] for step in self.archived() if step["kind"] == kind]

    def log(self) -> str:
        """What went wrong in hooks; empty where nothing did."""
        path = self.home / ".local/share/unified-state/hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def write(self, path: Path, text: str) -> None:
        """Write a file of the world."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.api.close()
        finally:
            self.sandbox.close()

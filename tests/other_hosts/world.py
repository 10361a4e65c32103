"""An isolated world for another host, with our program and a scripted model in it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.sandboxed.product import Product
from tests.sandboxed.scripted_api import Json
from tests.sandboxed.world import World

from .model_api import ModelApi

PACKAGES = Path(sys.prefix) / "other-hosts" / "node_modules"
_PATIENCE = 120  # seconds for one prompt


class HostWorld(World[ModelApi]):
    """A world in `folder`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ModelApi)
        self._product = Product(self)

    def run(self, *command: str | Path) -> str:
        """What a program prints in the project."""
        return self.run_program(*command, timeout=_PATIENCE).stdout

    def product(self, *arguments: str) -> str:
        """What a command of ours prints."""
        return self._product.run(*arguments)

    def archived(self) -> list[Json]:
        """Every step in the archive."""
        return self._product.export()

    def said(self, kind: str) -> list[str]:
        """The texts of the archived steps of a kind."""
        return [step["text"] for step in self.archived() if step["kind"] == kind]

    def log(self) -> str:
        """What went wrong in hooks; empty where nothing did."""
        return self._product.log()

    def write(self, path: Path, text: str) -> None:
        """Write a file of the world."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

"""The plugin inside a scenario, as a user gets it: a clone's files as a marketplace, installed by the client itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.sandboxed.product import PROGRAM

from .scenario import CHECKOUT, Scenario

ID = "unified-state@unified-state"


class Plugin:
    """The plugin of a scenario; `root` is the folder that it was added from."""

    def __init__(self, scenario: Scenario, root: Path | None = None) -> None:
        self._scenario = scenario
        self.root = root or clone(scenario.folder / "clone")
        self.data = scenario.config / "plugins" / "data" / ID.replace("@", "-")

    def install(self) -> None:
        """Add the marketplace and install from it."""
        self.client("plugin", "marketplace", "add", self.root)
        self.client("plugin", "install", ID)

    def client(self, *arguments: str | Path, check: bool = True) -> str:
        """What a command of the client prints."""
        command = self._scenario.client_command()[0]
        return self._scenario.run_program(command, *arguments, check=check).stdout


def clone(folder: Path) -> Path:
    """The files that a clone of this repository would have, in a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (CHECKOUT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / name, folder / name)
    return folder


def program_on_path(scenario: Scenario) -> None:
    """Put the program where the client's hooks find it: into the user's own folder of programs, as pipx does."""
    programs = scenario.home / ".local" / "bin"
    programs.mkdir(parents=True)
    (programs / PROGRAM.name).symlink_to(PROGRAM)

"""One isolated world: a sandbox, a scripted API, a home and a project.

Invariant: all that a program in it reads or writes lies in the world's folder, and every process ends with it.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

from tests.passwd import set_home

from .sandbox import Sandbox

CHECKOUT = Path(__file__).resolve().parents[2]


class Served(Protocol):
    """What answers on the sandbox's loopback."""

    def close(self) -> None:
        """Stop serving."""


Api = TypeVar("Api", bound=Served)


class World(Generic[Api]):
    """A world in `folder`, in which `visible` can be seen too; `make_api` makes its API on a listening socket."""

    def __init__(self, folder: Path, make_api: Callable[[socket.socket], Api], visible: Iterable[Path] = ()) -> None:
        self.folder = folder
        self.home, self.project, self.temporary = folder / "home", folder / "project", folder / "tmp"
        for path in (self.home, self.project, self.temporary):
            path.mkdir(parents=True)
        set_home(self.home)
        self.environment: dict[str, str] = {}
        """Variables for the programs on top of `variables()`."""
        self.sandbox = Sandbox(visible=[folder, CHECKOUT, Path(sys.prefix), Path(sys.base_prefix), *visible])
        self.api = make_api(self.sandbox.listener)
        self.run_program("git", "init", "--quiet")

    def variables(self) -> dict[str, str]:
        """The whole environment of the programs."""
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            **self.environment,
        }

    def run_program(
        self, *command: str | Path, stdin: str = "", check: bool = True, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run any program in the project; a failure raises, unless `check` is off."""
        done = self.sandbox.run(command, cwd=self.project, env=self.variables(), stdin=stdin, timeout=timeout)
        if check and done.returncode:
            error = subprocess.CalledProcessError(done.returncode, list(map(str, command)))
            error.add_note(done.stdout + done.stderr)
            raise error
        return done

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.api.close()
        finally:
            self.sandbox.close()

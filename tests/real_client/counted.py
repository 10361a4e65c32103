"""Which of our hooks did their work in a scenario: every hook's interpreter tells which modules it loaded.

A hook that yields ends before it loads what handles events.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from unified_state.hosts.install.hook_launcher import launcher_text
from unified_state.hosts.install.hook_table import LAUNCHER
from unified_state.model.hook_event import PARTS

from .scenario import CHECKOUT, Scenario

HANDLING = "unified_state.interfaces.hooks.hook_call"


class CountingInterpreter:
    """A program in place of the interpreter, which keeps a file of each run, and a launcher that calls it."""

    def __init__(self, scenario: Scenario) -> None:
        self._runs = scenario.folder / "runs"
        self._runs.mkdir()
        self.path = scenario.folder / "interpreter"
        self.path.write_text(
            "#!/bin/sh\n"
            f'echo "$@" >"{self._runs}/$$"\n'
            f'exec "{sys.executable}" -X importtime "$@" 2>>"{self._runs}/$$"\n'
        )
        self.path.chmod(0o755)
        self.launcher = scenario.folder / LAUNCHER
        self.launcher.write_bytes(launcher_text(str(self.path), str(CHECKOUT)))
        self.launcher.chmod(0o755)

    def started(self) -> int:
        """How many hooks ran."""
        return len(list(self._runs.iterdir()))

    def worked(self) -> Counter[str]:
        """How many of them handled their event, by event and part."""
        told = [path.read_text(encoding="utf-8").splitlines() for path in self._runs.iterdir()]
        return Counter(_call(lines[0]) for lines in told if any(line.endswith(f" {HANDLING}") for line in lines))


def _call(command_line: str) -> str:
    *_, event, part = command_line.split()
    return f"{event} {part}" if part in PARTS else part


def as_program(path: Path, root: Path) -> str:
    """What the plugin's data folder says of a program: its interpreter, and the folder of its package."""
    return f"{path}\n{root}\n\n"

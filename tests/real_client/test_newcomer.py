"""A newcomer's path in the client: a wheel, one command, a recorded rule, five compactions, nothing left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal import run_at_terminal

from .conversation import Conversation
from .scenario import CHECKOUT, NEW_MODEL, OLD_MODEL, Scenario

RULE = "Never touch migrations/"
CORRECTED = "Amounts are integers of cents"
COMPACTIONS = 5


class Newcomer:
    """A person with a wheel that was built, and a project."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        place = scenario.folder / "place"
        built = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(place / "dist")]
        subprocess.run(built, cwd=CHECKOUT, check=True, capture_output=True)
        (wheel,) = (place / "dist").iterdir()
        subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
        pip: list[str | Path] = [
            place / "env" / "bin" / "python",
            "-m",
            "pip",
            "install",
            "-q",
            "--no-index",
            "--no-deps",
            wheel,
        ]
        subprocess.run(pip, check=True)
        (site,) = (place / "env" / "lib").glob("*/site-packages")
        needed = [path for path in sys.path if path.endswith("site-packages")]
        (site / "needed.pth").write_text("\n".join(needed), encoding="utf-8")
        self.program = place / "env" / "bin" / "unified-state"

    def run(self, *words: str) -> str:
        """What a command prints."""
        return self._scenario.run_program(self.program, *words).stdout

    def at_terminal(self, *words: str) -> None:
        """Run a command at a terminal, and say yes."""
        command = self._scenario.sandbox.entering([self.program, *words], self._scenario.project)
        ended = run_at_terminal(command, None, self._scenario.variables())
        assert ended.code == 0, ended


def everything_in(*folders: Path) -> dict[str, bytes | None]:
    """Every file with its content, every folder with None; git's own index changes by itself."""
    found = [path for folder in folders for path in folder.rglob("*") if path.name != "index"]
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


@pytest.mark.parametrize("model", [OLD_MODEL, NEW_MODEL])
def test_a_newcomers_path_from_a_wheel_to_nothing_left(scenario: Scenario) -> None:
    newcomer = Newcomer(scenario)
    before = everything_in(scenario.home, scenario.project)

    assert newcomer.run("install").splitlines()[-1] == f"now start claude in {scenario.project}"

    with Conversation(scenario) as client:
        client.ask("Add a client for the payments API.")
        assert scenario.api.of("main")[0].find("outlive a compaction of the conversation")  # from the skill
        newcomer.run("constraint", "add", RULE, "--source", "me")
        newcomer.run("decision", "add", "Amounts are floats of euros", "--rationale", "the API sends them so")
        for number in range(COMPACTIONS):
            client.ask("/compact")
            client.ask(f"Go on with step {number}.")
            request = scenario.api.of("main")[-1]
            assert [text for _, text in request.texts() if f"C1 (the user said): {RULE}" in text], number
            if number == 1:
                newcomer.run("edit", "D1", CORRECTED)
            if number > 1:
                assert request.find(CORRECTED)
                assert not [text for _, text in request.texts() if "floats of euros" in text]
        assert len(scenario.api.of("compact")) == COMPACTIONS
    assert "BAD" not in newcomer.run("doctor")

    newcomer.at_terminal("uninstall", "--purge")
    left = everything_in(scenario.home, scenario.project)
    shared = scenario.home / ".local"  # a folder of the system's, not of ours
    assert {path: left[path] for path in left if path not in (str(shared), str(shared / "share"))} == before

    scenario.prompt("hello")
    request = scenario.api.of("main")[-1]
    assert not request.find(RULE)
    assert not request.find("unified-state")

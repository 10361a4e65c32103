"""The checked-in hooks of the plugin are those of the table, and its files say what the package says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools.make_hooks import PATH, hooks_text
from unified_state import __version__

ROOT = Path(__file__).parents[2]
GATE, MOST_OF_THE_GATE = ROOT / "unified_state" / "interfaces" / "gate.sh", 60


def test_the_hooks_of_the_plugin_are_those_of_the_table() -> None:
    assert PATH.read_text(encoding="utf-8") == hooks_text()


def test_every_hook_has_a_limit_in_seconds() -> None:
    groups = [group for groups in json.loads(hooks_text())["hooks"].values() for group in groups]
    timeouts = [handler["timeout"] for group in groups for handler in group["hooks"]]
    assert len(timeouts) >= 8
    assert all(1 <= timeout <= 120 for timeout in timeouts)


def test_the_plugin_has_the_version_of_the_package() -> None:
    assert json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))["version"] == __version__


@pytest.mark.parametrize("path", sorted([*(ROOT / "hooks").glob("*.sh"), ROOT / "bin" / "unified-state", GATE]))
def test_a_file_of_shell_is_short_and_good_for_every_shell(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 30 or (path == GATE and len(lines) <= MOST_OF_THE_GATE)
    for shell in filter(shutil.which, ("sh", "dash", "bash")):
        subprocess.run([shell, "-n", path], check=True)


def test_the_skill_has_only_what_every_host_knows() -> None:
    (path,) = (ROOT / "skills").glob("*/SKILL.md")
    text = path.read_text(encoding="utf-8")
    header = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
    assert set(header) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert header["name"] == path.parent.name
    assert len(header["description"]) <= 1024

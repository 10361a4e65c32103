"""What the version with folders by layer left behind opens, and nothing is lost: archive, state file, deny, hooks.

`tests/data/earlier_version` was made by that version in `/home/ada/shop`; here the same repository lies elsewhere.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.product import Project
from unified_state.memory.repository.place import digest_path_of

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "earlier_version"
ID = "e0aa0e23e6fc0ad1"
EVENT = {"session_id": "33333333-4444-4555-8666-777777777777", "source": "compact", "tool_name": "Bash"}


@pytest.fixture
def left_behind(repository: Path, home: Path) -> Project:
    """The repository and the data folder as the earlier version left them."""

    def text_of(name: str) -> str:
        text = (DATA / name).read_text(encoding="utf-8").replace("/home/ada/shop", str(repository))
        return text.replace("{python}", sys.executable).replace("{root}", str(ROOT))

    folder = home / ".local" / "share" / "unified-state" / "repositories" / ID
    folder.mkdir(parents=True)
    (folder / "archive.db").write_bytes(gzip.decompress((DATA / "archive.db.gz").read_bytes()))
    for name in ("about.json", "enforced.json"):
        (folder / name).write_text(text_of(name), encoding="utf-8")
    (folder.parents[1] / "mask.key").write_bytes((DATA / "mask.key").read_bytes())
    (repository / ".git" / "unified-state-id").write_text(text_of("unified-state-id"), encoding="utf-8")
    (repository / ".claude").mkdir()
    for name in ("settings.local.json", "unified-session-state.json"):
        (repository / ".claude" / name).write_text(text_of(name), encoding="utf-8")
    digest = digest_path_of(str(folder), str(repository / ".claude" / "unified-session-state.json"))
    Path(digest).write_text(text_of("state.sha256"), encoding="utf-8")
    return Project(repository, home)


@pytest.fixture
def call(left_behind: Project) -> Callable[..., str]:
    """Call a hook as the earlier version's settings say; what it prints."""
    settings = json.loads((left_behind.folder / ".claude" / "settings.local.json").read_text(encoding="utf-8"))

    def hook(event: str, number: int = 0, **given: Any) -> str:
        handler = [handler for group in settings["hooks"][event] for handler in group["hooks"]][number]
        done = subprocess.run(
            [handler["command"], *handler["args"]],
            cwd=left_behind.folder,
            input=json.dumps({**EVENT, "cwd": str(left_behind.folder), "hook_event_name": event, **given}),
            env={**os.environ, "HOME": str(left_behind.home)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    return hook


def test_the_items_and_steps_of_the_earlier_version_are_found(left_behind: Project) -> None:
    (decision,) = left_behind.ask("decision", "list")
    assert (decision["id"], decision["decision"]) == ("D1", "Keep sessions in SQLite")
    assert [item["id"] for item in left_behind.ask("constraint", "list")] == ["C1"]
    assert [item["id"] for item in left_behind.ask("question", "list")] == ["Q1"]
    assert "calibrated to 1.21" in left_behind.run("search", "flux", "gigawatts").out


def test_its_state_file_is_valid_and_kept(left_behind: Project) -> None:
    done = left_behind.run("validate")
    assert (done.code, done.err) == (0, "")
    left_behind.run("decision", "add", "Use port 8081", "--rationale", "8080 is taken")
    state = json.loads(left_behind.state_path.read_text(encoding="utf-8"))
    assert [entry["id"] for entry in state["decisions"]] == ["D1", "D2"]


def test_its_hooks_restore_archive_and_deny(left_behind: Project, call: Callable[..., str]) -> None:
    assert "Keep sessions in SQLite" in call("SessionStart")
    call("UserPromptSubmit", prompt="and the warp core?", transcript_path=str(left_behind.folder / "none.jsonl"))
    call("Stop", last_assistant_message="The warp core is stable.", transcript_path="")
    assert "permissionDecision" in call("PreToolUse", tool_input={"command": "git push --force origin main"})
    assert call("PreToolUse", tool_input={"command": "git push"}) == ""


def test_install_and_uninstall_know_its_hooks(left_behind: Project) -> None:
    assert left_behind.run("install").code == 0
    path = left_behind.folder / ".claude" / "settings.local.json"
    handlers = path.read_text(encoding="utf-8").count('SessionStart",\n')
    assert handlers == 2
    assert left_behind.at_terminal("uninstall").code == 0
    assert "unified_state" not in (path.read_text(encoding="utf-8") if path.exists() else "")

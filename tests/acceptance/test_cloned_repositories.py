"""Nothing of a cloned repository runs, whatever it brings along: not in any hook, nor in any command."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.amount import amount
from unified_state.hosts.install.hook_table import output_hook_group, tool_hook_group
from unified_state.model.hook_event import TIMEOUTS
from unified_state.settings import default_data_dir

from .hostile import (
    CORPUS,
    LIVE,
    Hostile,
    append,
    becoming_hostile,
    filter_with_equals_sign,
    settings,
)
from .product import PROGRAM, Project, hook_command, launched
from .transcripts import Transcript

COMMANDS = (
    ("save",), ("load",), ("status",), ("age",), ("validate",), ("context",), ("doctor",), ("preview",),
    ("compactions",),
    ("search", "print"), ("export",), ("scan",), ("decision", "add", "Gold", "--rationale", "r"), ("decision", "list"),
    ("constraint", "add", "Rule", "--source", "s", "--scope", "command:rm", "--mode", "ask"),
    ("show", "--source", "D1"),
    ("install", "--rules"), ("install", "--lean", "gentle"), ("doctor",), ("config",), ("sync",), ("uninstall",),
)  # fmt: skip
SHARES = amount(1, 3)  # all plants of a share together meet every command
FIELDS = {
    "SessionStart": {"source": "compact"},
    "UserPromptSubmit": {"prompt": "look at a.py"},
    "Stop": {"last_assistant_message": "done"},
    "SubagentStart": {"agent_type": "Explore"},
    "SubagentStop": {"agent_type": "Explore", "last_assistant_message": "found"},
    "PreCompact": {"trigger": "auto"},
    "SessionEnd": {"reason": "other"},
}


@pytest.fixture
def hostile(repository: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """A repository into which anything may be planted."""
    return becoming_hostile(repository, home, tmp_path / "marks", monkeypatch)


def run_everything(project: Project, transcript: Path, path: str, first: int) -> None:
    """Every hook event and the main commands, with this PATH; if not in full, every third command from `first` on."""

    def run(command: list[str], stdin: bytes = b"") -> None:
        done = project.execute(command, stdin, {"PATH": path})
        assert "Traceback" not in done.err, done

    for event in TIMEOUTS:
        for part in ("brief", "working_set") if event == "SessionStart" else ("",):
            given = project.event(event, transcript_path=str(transcript), **FIELDS[event])
            run(hook_command(event, part), given)
    for command in COMMANDS[first % SHARES :: SHARES]:
        run([*PROGRAM, *command])
    groups = {
        "PreToolUse": tool_hook_group(default_data_dir(), "launcher"),
        "PostToolUse": output_hook_group("tight", default_data_dir(), "launcher"),
    }
    for event, group in groups.items():
        (handler,) = group["hooks"]
        tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "x\n" * 5000}}
        run(launched(handler["args"]), project.event(event, transcript_path=str(transcript), **tool))


@pytest.mark.parametrize("plant", CORPUS, ids=lambda plant: plant.__name__)
def test_nothing_that_a_repository_brings_along_runs(
    hostile: Hostile, home: Path, tmp_path: Path, plant: Callable[[Hostile], None]
) -> None:
    plant(hostile)
    hostile.forget()  # what git ran while the repository was made
    written = Transcript("s", cwd=str(hostile.folder))
    written.prompt("print it twice")
    path = f".:{hostile.folder}/node_modules/.bin::{os.environ['PATH']}:bin:"
    run_everything(Project(hostile.folder, home), written.write(tmp_path / "s.jsonl"), path, CORPUS.index(plant))
    assert hostile.ran == []


@pytest.mark.parametrize("plant", LIVE, ids=lambda plant: plant.__name__)
def test_git_itself_runs_what_these_repositories_bring_along(
    hostile: Hostile, plant: Callable[[Hostile], None]
) -> None:
    plant(hostile)
    hostile.forget()
    hostile.git("status", fails=True)
    assert hostile.ran != []


def git_state(project: Project) -> dict[str, Any]:
    """The git state as PreCompact saves it, and the same as `save` does."""
    assert project.hook("PreCompact", trigger="auto").code == 0
    by_hook = project.state()["git"]
    assert project.run("save").code == 0
    assert project.state()["git"] == by_hook
    return dict(by_hook)


@pytest.mark.parametrize("name", ["lfs", "git-crypt"])
def test_a_repository_of_git_lfs_or_git_crypt_is_told_without_its_program(
    hostile: Hostile, home: Path, name: str
) -> None:
    """The file in the repository is what the filter made of it; in the worktree it lies as the user has it."""
    (hostile.folder / ".gitattributes").write_text(f"*.bin filter={name} diff={name} merge={name}\n")
    (hostile.folder / "big.bin").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 7\n"
    )
    hostile.commit()
    (hostile.folder / "big.bin").write_text("content")
    append(Path(os.environ["GIT_CONFIG_GLOBAL"]), hostile.filters(name))
    (hostile.folder / "staged.bin").write_text("pointer")
    off = [f"filter.{name}.{setting}" for setting in ("clean=", "process=", "required=false")]
    hostile.git(*(word for setting in off for word in ("-c", setting)), "add", "staged.bin")
    (hostile.folder / "staged.bin").write_text("content")
    (hostile.folder / "a.py").unlink()
    hostile.forget()
    git = git_state(Project(hostile.folder, home))
    assert git["status"] == " D a.py\n M big.bin\nAM staged.bin"
    assert hostile.ran == []


def test_where_a_filter_cannot_be_switched_off_git_is_not_called(hostile: Hostile, home: Path) -> None:
    filter_with_equals_sign(hostile)
    git = git_state(Project(hostile.folder, home))
    assert git["error"] == "git was not called: the filter 'a=b' cannot be switched off"


def test_doctor_starts_no_handler_of_a_project(hostile: Hostile, home: Path) -> None:
    settings(hostile)
    checks = {check["name"]: check for check in json.loads(Project(hostile.folder, home).run("doctor", "--json").out)}
    for scope in ("project", "local"):
        assert not checks[f"hooks ({scope})"]["ok"]
        assert hostile.folder.name in checks[f"hooks ({scope})"]["message"]
    assert hostile.ran == []

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unified_state.hosts.install.claude_settings import known_program, note_program, settings_run
from unified_state.hosts.install.hook_launcher import launcher_path
from unified_state.hosts.install.hook_table import hook_groups
from unified_state.settings import default_data_dir, load_settings

EVENT = "UserPromptSubmit"
OURS = {"hooks": hook_groups(default_data_dir(), launcher_path())}


def changed(**fields: Any) -> Any:
    """Settings with one handler of ours, which is otherwise than we write it."""
    (group,) = OURS["hooks"][EVENT]
    return {"hooks": {EVENT: [{"hooks": [{**group["hooks"][0], **fields}]}]}}


def write(path: Path, settings: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")


@pytest.fixture
def runs(repository: Path, home: Path) -> Callable[..., bool]:
    """Whether the client would run a hook of ours by its settings, when it starts in the repository."""
    return lambda event=EVENT, folder=repository, **environ: settings_run(event, str(folder), environ)


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_hooks_in_the_projects_settings_run(runs: Callable[..., bool], repository: Path, name: str) -> None:
    assert not runs()
    write(repository / ".claude" / name, OURS)
    assert runs()
    assert not runs("PreToolUse")


def test_hooks_in_the_users_settings_run(runs: Callable[..., bool], home: Path, tmp_path: Path) -> None:
    write(home / ".claude" / "settings.json", OURS)
    assert runs()
    assert not runs(CLAUDE_CONFIG_DIR=str(tmp_path))


def test_local_hooks_run_in_folders_below_and_in_linked_worktrees_too(
    runs: Callable[..., bool], repository: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    write(repository / ".claude" / "settings.local.json", OURS)
    (repository / "below").mkdir()
    git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert runs(folder=repository / "below")
    assert runs(folder=tmp_path / "linked")


def test_the_projects_hooks_do_not_run_in_folders_below(runs: Callable[..., bool], repository: Path) -> None:
    write(repository / ".claude" / "settings.json", OURS)
    (repository / "below").mkdir()
    assert not runs(folder=repository / "below")


@pytest.mark.parametrize(
    "settings",
    [
        changed(command="/gone/unified-state-hook"),
        changed(command=7),
        changed(command="\0"),
        changed(args="unified-state-hook"),
        {"hooks": {EVENT: [{"hooks": 7}], "Stop": "unified-state-hook"}},
        {"hooks": {EVENT: {"unified-state-hook": 1}}},
        {"hooks": ["unified-state-hook"]},
        ["unified-state-hook"],
    ],
)
def test_handlers_that_the_client_cannot_run_do_not_count(
    runs: Callable[..., bool], repository: Path, settings: Any
) -> None:
    write(repository / ".claude" / "settings.json", settings)
    assert not runs()


@pytest.mark.parametrize(
    "raw",
    [
        b"// mine\n" + json.dumps(OURS).encode(),
        json.dumps(OURS).encode()[:-1],
        json.dumps(OURS).encode() + b"\xff",
        b"[" * 100_000 + b'"unified-state-hook"',
        b"",
    ],
)
def test_a_file_that_the_client_does_not_take_does_not_count(
    runs: Callable[..., bool], repository: Path, raw: bytes
) -> None:
    path = repository / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(raw)
    assert not runs()


def test_a_program_is_known_as_it_was_noted(tmp_path: Path) -> None:
    folder = str(tmp_path / "plugins" / "data")
    assert known_program(folder) is None
    note_program(folder)
    known = known_program(folder)
    assert known is not None
    assert known[0] == sys.executable


@pytest.mark.usefixtures("own_passwd")
def test_the_data_folder_is_that_of_the_users_own_file_alone(home: Path, tmp_path: Path) -> None:
    assert load_settings(None, {}).data_dir == default_data_dir()
    path = home / ".config" / "unified-state" / "config.toml"
    path.parent.mkdir(parents=True)
    for text, expected in (
        (f'data_dir = "{tmp_path}/a"', f"{tmp_path}/a"),
        (f'data_dir = "{tmp_path}/bb"', f"{tmp_path}/bb"),
        ("data_dir = 7", default_data_dir()),
        ("broken [", default_data_dir()),
        ("", default_data_dir()),
    ):
        path.write_text(text)
        assert load_settings(None, {}).data_dir == expected

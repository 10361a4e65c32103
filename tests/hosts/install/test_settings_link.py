"""A settings file may be a symlink, may be shared, and may be written by the client at the same time as by us."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from unified_state.errors import UnifiedStateError
from unified_state.hosts.install.hook_table import our_handlers
from unified_state.hosts.install.install_claude_code import (
    Choices,
    Target,
    install,
    put_tool_hook,
    target,
    uninstall,
)
from unified_state.hosts.install.install_host import install_host, uninstall_host
from unified_state.hosts.install.settings_edit import edit_settings
from unified_state.hosts.transcripts.rules.hosts import HOSTS

BEFORE = b'{"env": {"A": "1"}}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository."""
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    git(folder, "init", "--quiet")
    return folder


@pytest.fixture
def data_dir(tmp_path: Path) -> str:
    return str(tmp_path / "data")


@pytest.fixture
def dotfiles(tmp_path: Path) -> Path:
    """Where the user keeps settings: in a file that a group shares."""
    path = tmp_path / "dotfiles" / "claude.json"
    path.parent.mkdir()
    path.write_bytes(BEFORE)
    path.chmod(0o664)
    return path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def commit(folder: Path) -> None:
    """Track all that is there, as a clone has it."""
    git(folder, "add", "--force", ".")
    git(folder, "commit", "--quiet", "--message", "links")


def state_of(path: Path) -> tuple[bytes, int, int]:
    return path.read_bytes(), path.stat().st_mode & 0o777, path.stat().st_gid


@pytest.mark.parametrize("scope", ["local", "project", "user"])
def test_a_link_stays_and_its_target_is_written_with_its_mode(
    project: Path, home: Path, dotfiles: Path, data_dir: str, scope: str
) -> None:
    place = target(scope, str(project), {})
    link = Path(place.settings_path)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(dotfiles)
    if os.getuid() == 0:
        os.chown(dotfiles, -1, 12_345)
    before, umask = state_of(dotfiles), os.umask(0o022)
    try:
        install(place, data_dir, Choices())
        put_tool_hook(str(link), data_dir, "Bash")
        assert our_handlers(json.loads(dotfiles.read_bytes()))
        assert (link.is_symlink(), state_of(dotfiles)[1:]) == (True, before[1:])
        uninstall(place)
    finally:
        os.umask(umask)
    assert (link.is_symlink(), state_of(dotfiles)) == (True, before)


def test_where_the_target_is_missing_it_is_made_and_goes_again(project: Path, tmp_path: Path, data_dir: str) -> None:
    place, missing = target("local", str(project), {}), tmp_path / "later.json"
    Path(place.settings_path).symlink_to(missing)
    install(place, data_dir, Choices())
    assert our_handlers(json.loads(missing.read_bytes()))
    uninstall(place)
    assert (missing.exists(), Path(place.settings_path).is_symlink()) == (False, True)


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_link_that_came_with_the_repository_does_not_lead_us_out_of_it(
    project: Path, dotfiles: Path, data_dir: str, is_folder: bool
) -> None:
    place = target("local", str(project), {})
    if is_folder:
        dotfiles.rename(dotfiles.with_name("settings.local.json"))
        (project / ".claude").rmdir()
        (project / ".claude").symlink_to(dotfiles.parent)
    else:
        Path(place.settings_path).symlink_to(dotfiles)
    commit(project)
    for write in (
        lambda: install(place, data_dir, Choices()),
        lambda: put_tool_hook(place.settings_path, data_dir, ""),
    ):
        with pytest.raises(UnifiedStateError, match="is a link of this repository, and leads out of it to"):
            write()
    assert Path(place.settings_path).read_bytes() == BEFORE
    uninstall(place)  # there is nothing of ours to write


def test_a_link_that_stays_in_the_repository_is_followed(project: Path, data_dir: str) -> None:
    place, shared = target("project", str(project), {}), project / "tools" / "claude.json"
    shared.parent.mkdir()
    shared.write_bytes(BEFORE)
    Path(place.settings_path).symlink_to("../tools/claude.json")
    commit(project)
    install(place, data_dir, Choices())
    assert (Path(place.settings_path).is_symlink(), shared.read_bytes() != BEFORE) == (True, True)


def test_a_home_under_version_control_is_the_users_own(
    home: Path, dotfiles: Path, data_dir: str, own_passwd: None
) -> None:
    git(home, "init", "--quiet")
    place = target("user", str(home), {})
    Path(place.settings_path).parent.mkdir()
    Path(place.settings_path).symlink_to(dotfiles)
    commit(home)
    install(place, data_dir, Choices())
    assert dotfiles.read_bytes() != BEFORE


def test_a_command_behind_a_link_is_left_to_whoever_made_the_link(project: Path, tmp_path: Path, data_dir: str) -> None:
    place, own = target("local", str(project), {}), tmp_path / "command.md"
    own.write_text("my notes on unified-state", encoding="utf-8")
    link = Path(place.commands_folder) / "context-compact.md"
    link.parent.mkdir()
    link.symlink_to(own)
    assert install(place, data_dir, Choices()).command_path is None
    uninstall(place)
    assert (link.is_symlink(), own.read_text(encoding="utf-8")) == (True, "my notes on unified-state")


@pytest.mark.parametrize(("other", "after"), [(b'{"a": 1}', {"a": 1, "ours": 0}), (None, {"ours": 0})])
def test_what_another_program_writes_or_removes_meanwhile_counts(
    tmp_path: Path, other: bytes | None, after: Any
) -> None:
    path, tries = tmp_path / "settings.json", 0
    path.write_bytes(BEFORE)

    def change(settings: dict[str, Any]) -> dict[str, Any]:
        nonlocal tries
        tries += 1
        if tries == 1:  # the client, between our reading and our writing
            path.unlink() if other is None else path.write_bytes(other)
        return {**settings, "ours": 0}

    assert edit_settings(str(path), change)
    assert (json.loads(path.read_bytes()), tries) == (after, 2)
    assert [one.name for one in tmp_path.iterdir()] == ["settings.json"]


def test_a_file_that_holds_ours_alone_does_not_go_while_another_program_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'{"ours": 0}')

    def change(settings: dict[str, Any]) -> dict[str, Any]:
        path.write_bytes(BEFORE)
        return {name: value for name, value in settings.items() if name != "ours"}

    assert not edit_settings(str(path), change)
    assert path.read_bytes() == BEFORE


OWN = {"type": "command", "command": "mine"}


def with_own_beside_ours(place: Target) -> dict[str, Any]:
    """Put a handler of the user's into each group of ours, before, behind and between ours."""
    path = Path(place.settings_path)
    settings: dict[str, Any] = json.loads(path.read_bytes())
    for number, group in enumerate(group for groups in settings["hooks"].values() for group in groups):
        group["hooks"].insert(number % (len(group["hooks"]) + 1), OWN)
    path.write_text(json.dumps(settings, indent=2), encoding="utf-8")
    return settings


def test_a_handler_of_the_users_in_a_group_of_ours_stays_and_ours_goes(project: Path, data_dir: str) -> None:
    place = target("local", str(project), {})
    install(place, data_dir, Choices(lean="middle"))
    put_tool_hook(place.settings_path, data_dir, "")
    settings = with_own_beside_ours(place)
    expected = [(event, {**group, "hooks": [OWN]}) for event, groups in settings["hooks"].items() for group in groups]
    install(place, data_dir, Choices())  # replaces ours, and what they did goes on
    handlers = our_handlers(json.loads(Path(place.settings_path).read_bytes()))
    assert len(handlers) == len(our_handlers(settings))
    put_tool_hook(place.settings_path, data_dir, None)
    assert uninstall(place).changed
    left = json.loads(Path(place.settings_path).read_bytes())
    assert our_handlers(left) == []
    assert [(event, group) for event, groups in left["hooks"].items() for group in groups] == expected


def test_a_handler_of_the_users_in_a_group_of_another_host_stays(tmp_path: Path, data_dir: str) -> None:
    path, host = tmp_path / "hooks.json", HOSTS["codex"]
    install_host(host, str(path), data_dir)
    settings = json.loads(path.read_bytes())
    for groups in settings["hooks"].values():
        groups[0]["hooks"].append(OWN)
    path.write_text(json.dumps(settings), encoding="utf-8")
    uninstall_host(host, str(path))
    left = json.loads(path.read_bytes())["hooks"]
    assert {event: [[OWN]] for event in settings["hooks"]} == {
        event: [group["hooks"] for group in groups] for event, groups in left.items()
    }

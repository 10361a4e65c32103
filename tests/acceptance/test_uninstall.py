"""Out again: what was installed and recorded goes, and the project is as it was before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.hosts.transcripts.rules.hosts import HOSTS

from .product import Project


def everything_in(folder: Path) -> dict[str, bytes | None]:
    """Every file with its content, every folder with None."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def test_after_the_last_repository_nothing_is_left_in_the_users_home(project: Project) -> None:
    before = everything_in(project.home)
    options = ("--rules", "--agents-md", "--status-line", "--allow-reading", "--reminders", "on", "--lean", "middle")
    assert project.run("install", *options).code == 0
    project.decide("The key is in config.py: AKIAIOSFODNN7EXAMPLE")
    project.hook("Stop", session_id="s", transcript_path="/missing")
    assert (project.data / "mask.key").exists()
    assert project.at_terminal("uninstall", "--purge").code == 0
    assert everything_in(project.home).keys() - {".local", ".local/share"} == before.keys()


def test_what_other_repositories_need_stays_until_the_last_one_is_purged(
    project: Project, tmp_path: Path, git: Callable[..., str]
) -> None:
    other = Project(tmp_path / "other", project.home)
    other.folder.mkdir()
    other.execute(["git", "init", "--quiet"], "", {})
    for one in (project, other):
        assert one.run("install").code == 0
        one.decide("The key is in config.py: AKIAIOSFODNN7EXAMPLE")
    assert project.at_terminal("uninstall", "--purge").code == 0
    assert (project.data / "mask.key").exists()
    assert other.at_terminal("uninstall", "--purge").code == 0
    assert not project.data.exists()


def test_a_settings_file_that_is_the_users_by_now_stays(project: Project) -> None:
    path = project.folder / ".claude" / "settings.local.json"
    assert project.run("install").code == 0
    path.write_text(path.read_text().replace("{", '{"model": "opus",', 1))
    assert project.at_terminal("uninstall", "--purge").code == 0
    assert json.loads(path.read_text()) == {"model": "opus"}
    assert not project.data.exists()


@pytest.mark.parametrize("host", ["claude", *HOSTS])
def test_purged_the_project_is_as_it_was_before(project: Project, git: Callable[..., str], host: str) -> None:
    git("status")  # writes git's own index anew
    before = everything_in(project.folder)
    options = ("--rules", "--agents-md", "--status-line", "--allow-reading") if host == "claude" else ()
    assert project.run("install", "--host", host, *options).code == 0
    project.run("constraint", "add", "No pushes", "--source", "the user", "--scope", "command:git push")
    project.decide("Use SQLite")
    assert everything_in(project.folder) != before
    assert project.at_terminal("uninstall", "--host", host, "--purge").code == 0
    assert everything_in(project.folder) == before


def test_what_is_recorded_stays_out_of_git_status_without_the_hooks(project: Project, git: Callable[..., str]) -> None:
    assert project.run("install").code == 0
    project.decide("Use SQLite")
    assert project.run("uninstall").code == 0
    assert project.state_path.exists()
    assert git("status", "--short") == ""

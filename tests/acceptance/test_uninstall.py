"""Out again: what was installed and recorded goes, and the project is as it was before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.agents.transcripts.rules.hosts import HOSTS

from .product import Project


def everything_in(folder: Path) -> dict[str, bytes | None]:
    """Every file with its content, every folder with None."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


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

"""Where hooks are off: a rules file and a pointer in AGENTS.md, only where the user asked for them, and gone again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .product import Project

FENCED = re.compile(
    r"\A<!-- .* -->\n\n"
    r"<unified-state-memory nonce=(\w+) about=\"[^\"\n]*\">\n(.*)\n</unified-state-memory nonce=\1>\n\Z",
    re.DOTALL,
)
AGENTS = ["", "# Règles\r\n\r\nno final line", "\ufeff# Rules\n\n\n"]


def rules_path(folder: Path) -> Path:
    return folder / ".claude" / "rules" / "unified-state.md"


def rules(project: Project) -> str:
    """What the rules file tells, within its fence."""
    found = FENCED.match(rules_path(project.folder).read_text(encoding="utf-8"))
    assert found
    return found[2]


@pytest.fixture
def with_rules(project: Project) -> Project:
    """A project with the rules file."""
    assert project.run("install", "--rules").code == 0
    return project


def test_without_being_asked_neither_file_is_written(project: Project) -> None:
    assert project.run("install").code == 0
    project.decide("Use SQLite")
    assert project.run("save").code == 0
    assert not rules_path(project.folder).exists()
    assert not (project.folder / "AGENTS.md").exists()


def test_the_rules_file_is_written_at_once_and_kept_fresh(with_rules: Project) -> None:
    assert rules(with_rules) == "Nothing is recorded yet."
    with_rules.decide("Use SQLite")
    assert "D1 (the user said): Use SQLite" in rules(with_rules)
    with_rules.run("work", "set", "--title", "The archive")
    assert "[WORK] The archive" in rules(with_rules)
    with_rules.run("save", "--highlight", "It compiles")
    assert "It compiles" in rules(with_rules)


def test_every_worktree_has_its_own_and_uninstall_removes_them_all(
    with_rules: Project, tmp_path: Path, git: Callable[..., str]
) -> None:
    other = tmp_path / "other worktree"
    git("worktree", "add", "--quiet", str(other), "-b", "other")
    Project(other, with_rules.home).decide("Use SQLite")
    other_file = rules_path(with_rules.folder).with_name("style.md")
    other_file.write_text("the user's")
    assert "Use SQLite" in rules_path(other).read_text()

    assert with_rules.run("uninstall").code == 0
    assert not rules_path(other).parent.exists()
    assert [path.name for path in other_file.parent.iterdir()] == ["style.md"]
    with_rules.decide("Use PostgreSQL")
    assert not rules_path(with_rules.folder).exists()


def test_what_is_forgotten_leaves_the_rules_files_of_all_worktrees(
    with_rules: Project, tmp_path: Path, git: Callable[..., str]
) -> None:
    other = tmp_path / "other"
    git("worktree", "add", "--quiet", str(other), "-b", "other")
    Project(other, with_rules.home).decide("The secret Quixotic")
    with_rules.run("save")
    assert "Quixotic" in rules(with_rules)
    assert with_rules.run("forget", "--match", "Quixotic", "--yes").code == 0
    assert "Quixotic" not in rules(with_rules) + rules_path(other).read_text()


@pytest.mark.parametrize("kind", ["text", "dangling link"])
def test_what_somebody_else_puts_in_its_place_later_stays(with_rules: Project, kind: str) -> None:
    path = rules_path(with_rules.folder)
    path.unlink()
    match kind:
        case "text":
            path.write_text("mine\n")
        case _:
            path.symlink_to("nowhere")
    done = with_rules.run("decision", "add", "Use SQLite", "--rationale", "one file")
    assert (done.code, done.out) == (0, "D1\n")
    assert (
        done.err == f"unified-state: {path} is a file of somebody else's; move it to another name; it was left alone\n"
    )
    assert with_rules.run("uninstall").code == 0
    assert path.is_dir() or path.is_symlink() or path.read_text() == "mine\n"


def test_a_file_of_somebody_else_stays(project: Project) -> None:
    path = rules_path(project.folder)
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")
    done = project.run("install", "--rules")
    assert done.code == 1
    assert "is a file of somebody else's" in done.err
    assert project.run("save").code == project.run("uninstall").code == 0
    assert path.read_text() == "mine\n"


def test_a_file_that_git_tracks_is_refused_and_one_that_a_stranger_committed_stays(
    with_rules: Project, tmp_path: Path, git: Callable[..., str]
) -> None:
    git("add", "--force", str(rules_path(with_rules.folder)))
    git("commit", "--quiet", "--message", "rules")
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone", with_rules.home)
    before = rules_path(clone.folder).read_bytes()
    clone.decide("Use SQLite")
    done = clone.run("install", "--rules")
    assert done.code == 1
    assert "git tracks" in done.err
    assert rules_path(clone.folder).read_bytes() == before


def test_a_link_out_of_the_project_is_refused(project: Project) -> None:
    outside = project.home / ".profile"
    outside.write_text("umask 077\n")
    (project.folder / "AGENTS.md").symlink_to(outside)
    done = project.run("install", "--agents-md")
    assert done.code == 1
    assert "leads out of the project" in done.err
    assert outside.read_text() == "umask 077\n"

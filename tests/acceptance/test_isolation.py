"""A repository's memory is its own: others never see it, and it follows its repository, not a path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Prepared
from .product import Project
from .transcripts import Transcript

Git = Callable[..., str]
SECRET_PLAN = "Paint the bikeshed mauve"


def fill_known(project: Project, folder: Path) -> None:
    """A decision and an archived session."""
    project.decide(SECRET_PLAN)
    written = Transcript("s")
    written.prompt("where is the mauve paint?")
    written.text("In the shed.")
    assert project.hook("Stop", transcript_path=str(written.write(folder / "s.jsonl"))).code == 0


@pytest.fixture
def known(prepared: Prepared) -> Project:
    """A project with a decision and an archived session."""
    return prepared(fill_known)


def tells(project: Project) -> list[str]:
    """Everything that reading commands and the restore of a new session tell in a folder."""
    commands = (
        ("search", "mauve"),
        ("export",),
        ("decision", "list"),
        ("status",),
        ("load",),
        ("show", "D1"),
        ("show", "T1"),
    )
    told = [project.run(*command).out for command in commands]
    for source in ("startup", "clear", "compact", "resume"):
        told += [project.hook("SessionStart", "brief", session_id="new", source=source).out]
    return told


def is_stranger(project: Project) -> bool:
    """Whether a folder knows nothing of another's memory."""
    return not [text for text in tells(project) if "mauve" in text]


def knows_all(project: Project) -> bool:
    """Whether a folder has the memory of the known project."""
    decisions = [item["decision"] for item in project.ask("decision", "list")]
    return decisions == [SECRET_PLAN] and {line["session_id"] for line in project.export()} == {"s"}


def another(project: Project, name: str) -> Project:
    """A folder beside the project, of the same user."""
    return Project(project.folder.parent / name, project.home)


def test_another_repository_sees_nothing(known: Project, git: Git) -> None:
    other = another(known, "elsewhere")
    other.folder.mkdir()
    git("init", "--quiet", cwd=other.folder)
    assert is_stranger(other)
    assert other.decide("green") == "D1"
    assert is_stranger(other)


def test_a_folder_of_no_repository_sees_nothing_and_has_a_memory_of_its_own(known: Project) -> None:
    other = another(known, "plain")
    other.folder.mkdir()
    assert is_stranger(other)
    assert other.decide("green") == "D1"
    assert [item["decision"] for item in other.ask("decision", "list")] == ["green"]


def test_a_subfolder_has_the_memory_of_its_repository(known: Project) -> None:
    deep = Project(known.folder / "src" / "deep", known.home)
    deep.folder.mkdir(parents=True)
    assert knows_all(deep)


def test_worktrees_share_one_memory_and_removing_one_loses_nothing(known: Project, git: Git) -> None:
    other = another(known, "worktree")
    git("worktree", "add", "--quiet", str(other.folder), "-b", "other", cwd=known.folder)
    assert knows_all(other)
    assert other.decide("green") == "D2"
    git("worktree", "remove", "--force", str(other.folder), cwd=known.folder)
    assert [item["id"] for item in known.ask("decision", "list")] == ["D1", "D2"]
    assert len(known.archives) == 1


def test_git_clean_and_a_hard_reset_take_nothing_with_them(known: Project, git: Git) -> None:
    git("clean", "-xdff", cwd=known.folder)
    git("reset", "--hard", "--quiet", cwd=known.folder)
    assert not known.state_path.exists()
    assert knows_all(known)
    assert known.run("load").code == 0
    assert known.state()["decisions"][0]["decision"] == SECRET_PLAN


def test_git_never_sees_what_we_keep(known: Project, git: Git) -> None:
    assert known.run("install").code == 0
    assert known.run("save").code == 0
    assert git("status", "--short", "--untracked-files=all", cwd=known.folder) == ""
    worktree = another(known, "worktree")
    git("worktree", "add", "--quiet", str(worktree.folder), "-b", "other", cwd=known.folder)
    assert worktree.run("save").code == 0
    assert git("status", "--short", "--untracked-files=all", cwd=worktree.folder) == ""


@pytest.fixture
def clones(project: Project, git: Git) -> list[Project]:
    """Two clones of the same remote."""
    folders = [another(project, name) for name in ("first", "second")]
    remote = project.folder.parent / "remote.git"
    git("clone", "--quiet", "--bare", str(project.folder), str(remote))
    for clone in folders:
        git("clone", "--quiet", str(remote), str(clone.folder))
    return folders


def test_a_fresh_clone_is_offered_the_memory_of_another_and_joins_it_only_by_link(clones: list[Project]) -> None:
    first, second = clones
    first.decide(SECRET_PLAN)
    assert first.run("save").code == 0
    assert is_stranger(second)
    (offered,) = second.ask("link")
    assert f"unified-state config link {offered['id']}" in second.run("install").err
    assert is_stranger(second)
    assert second.run("link", offered["id"]).code == 0
    assert [item["decision"] for item in second.ask("decision", "list")] == [SECRET_PLAN]
    assert second.decide("green") == "D2"
    assert [item["id"] for item in first.ask("decision", "list")] == ["D1", "D2"]


def test_an_identity_file_from_a_stranger_leads_nowhere(project: Project) -> None:
    """A folder may come with a file in it that looks like ours."""
    plain = another(project, "plain")
    (plain.folder / ".claude").mkdir(parents=True)
    outside = project.home / "outside"
    outside.mkdir()
    (plain.folder / ".claude" / "unified-state-id").write_text('{"id": "../../../../outside", "place": "x"}')
    plain.decide("green")
    assert list(outside.iterdir()) == []

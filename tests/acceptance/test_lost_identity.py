"""The identity of a repository is never lost in silence: whatever becomes of its file, the memory comes back or the
session is told where it is, no other checkout takes it, and what is forbidden stays forbidden.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .product import PROGRAM, Done, Project, well_printed

FORCE_PUSH = ("constraint", "add", "Rule", "--source", "s", "--scope", "command:git push --force", "--mode", "deny")
ID_FILE = "unified-state-id"
Damage = Callable[[Path], object]


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def _as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_loose_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nowhere"))


def _as_another(path: Path) -> None:
    path.write_text(json.dumps({"id": "0123456789abcdef", "place": str(path.parent)}), encoding="utf-8")


WAYS: dict[str, Damage] = {
    "missing": Path.unlink,
    "garbage": lambda path: path.write_bytes(b"garbage\xff"),
    "empty": lambda path: path.write_bytes(b""),
    "folder": _as_folder,
    "pipe": _as_pipe,
    "loose link": _as_loose_link,
    "another id": _as_another,
}


@pytest.fixture
def remembered(project: Project) -> Project:
    """A project with a decision and a deny."""
    project.decide("Gold")
    assert project.run(*FORCE_PUSH).code == 0
    return project


def identity(project: Project) -> Path:
    """The file that says which archive is the project's."""
    return project.folder / ".git" / ID_FILE


def unprivileged(project: Project) -> Project:
    """The project of a user whom permissions bind, also where the tests are run by root."""
    if os.geteuid() != 0:
        return project
    if not shutil.which("setpriv"):
        pytest.skip("there is no setpriv, and permissions do not bind root")
    return Project(project.folder, project.home, ("setpriv", "--bounding-set", "-dac_override,-dac_read_search"))


def pushed(project: Project, command: str = "git push -f") -> Done:
    """What the hook in the settings answers to a forced push."""
    path = project.folder / ".claude" / "settings.local.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    ((handler,),) = [group["hooks"] for group in settings["hooks"]["PreToolUse"]]
    stdin = project.event("PreToolUse", tool_name="Bash", tool_input={"command": command})
    return project.execute([handler["command"], *handler["args"]], stdin, {"CLAUDE_PROJECT_DIR": str(project.folder)})


def decision(done: Done) -> str | None:
    """What the hook decided; None where it let the call pass."""
    assert well_printed(done), done
    output = json.loads(done.out).get("hookSpecificOutput", {}) if done.out else {}
    found: str | None = output.get("permissionDecision")
    return found


def reason(done: Done) -> str:
    """What the hook said of its decision."""
    return str(json.loads(done.out)["hookSpecificOutput"]["permissionDecisionReason"])


def brief(project: Project) -> str:
    """What a new session is given."""
    done = project.hook("SessionStart", "brief", source="startup", transcript_path=str(project.folder / "t.jsonl"))
    assert well_printed(done), done
    return str(json.loads(done.out)["hookSpecificOutput"]["additionalContext"]) if done.out else ""


def texts(project: Project) -> list[str]:
    """The decisions that hold here."""
    return [item["decision"] for item in project.ask("decision", "list") if item.get("status", "active") == "active"]


def settings_hold_our_hook(project: Project) -> bool:
    """Whether tool calls are still checked."""
    path = project.folder / ".claude" / "settings.local.json"
    return path.exists() and "PreToolUse" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("way", WAYS)
def test_all_stays_known_and_forbidden_and_the_next_session_rejoins_and_is_told(remembered: Project, way: str) -> None:
    before = remembered.archive
    raw = identity(remembered).read_bytes()
    WAYS[way](identity(remembered))
    done = remembered.run("decision", "list")
    assert (done.code, "Gold" in done.out, "archive" in done.err) == (0, True, True)
    assert not list(identity(remembered).parent.glob(f"{ID_FILE}.damaged-*"))  # who reads changes nothing
    assert [decision(pushed(remembered, command)) for command in ("git push -f", "ls")] == ["deny", None]
    text = brief(remembered)
    assert ("Gold" in text, "[HEALTH]" in text) == (True, True)
    assert remembered.archive == before
    assert identity(remembered).read_bytes() == raw
    assert remembered.decide("Silver") == "D2"
    assert "[HEALTH]" in brief(remembered)


def test_an_unreadable_identity_is_no_new_one(remembered: Project) -> None:
    project = unprivileged(remembered)
    before, raw = project.archive, identity(project).read_bytes()
    identity(project).chmod(0)
    assert decision(pushed(project)) == "deny"
    assert texts(project) == ["Gold"]
    text = brief(project)
    assert ("Gold" in text, "unreadable" in text) == (True, True)
    assert project.decide("Silver") == "D2"
    identity(project).chmod(0o600)
    assert identity(project).read_bytes() == raw
    assert (project.archive, texts(project)) == (before, ["Gold", "Silver"])


def test_an_unreadable_identity_that_nothing_explains_stops_and_is_said(remembered: Project) -> None:
    project = unprivileged(remembered)
    identity(project).chmod(0)
    (project.archive.parent / "about.json").unlink()
    done = project.run("decision", "add", "Silver", "--rationale", "r")
    assert (done.code, "cannot be read; make it readable" in done.err, done.err.count("\n")) == (1, True, 1)
    assert len(project.archives) == 1
    answer = pushed(project)
    assert (decision(answer), "cannot be read" in reason(answer)) == ("ask", True)
    started = project.hook("SessionStart", "brief", source="startup")
    assert "cannot be read" in json.loads(started.out)["systemMessage"]
    identity(project).chmod(0o600)
    assert decision(pushed(project)) == "deny"
    assert "Gold" in brief(project)


def test_a_worktree_brings_the_identity_of_all_back(remembered: Project, git: Callable[..., str]) -> None:
    other = Project(remembered.folder.parent / "other", remembered.home)
    git("worktree", "add", "--quiet", str(other.folder), "-b", "other")
    brief(other)
    before = remembered.archive
    identity(remembered).unlink()
    assert "Gold" in brief(other)
    assert decision(pushed(other)) == "deny"
    assert (remembered.archive, texts(remembered)) == (before, ["Gold"])


def test_a_folder_that_moved_and_lost_its_identity_is_told_the_candidate(remembered: Project) -> None:
    moved = Project(remembered.folder.parent / "moved", remembered.home)
    wanted = remembered.archive.parent.name
    remembered.folder.rename(moved.folder)
    identity(moved).unlink()
    assert decision(pushed(moved)) in {"ask", "deny"}
    text = brief(moved)
    assert f"`unified-state config link {wanted}`" in text
    assert "Gold" not in text
    assert moved.at_terminal("link", wanted).code == 0
    assert texts(moved) == ["Gold"]
    assert decision(pushed(moved)) == "deny"


def test_a_clone_in_the_place_of_a_lost_checkout_takes_no_memory(remembered: Project, git: Callable[..., str]) -> None:
    wanted = remembered.archive.parent.name
    kept = remembered.folder.parent / "kept"
    git("clone", "--quiet", str(remembered.folder), str(kept))
    remembered.folder.rename(remembered.folder.parent / "old")
    git("clone", "--quiet", str(kept), str(remembered.folder), cwd=kept)
    text = brief(remembered)
    assert ("Gold" in text, f"`unified-state config link {wanted}`" in text) == (False, True)
    assert texts(remembered) == []


def test_a_copied_folder_takes_no_memory_and_lets_nothing_pass(remembered: Project) -> None:
    copy = Project(remembered.folder.parent / "copy", remembered.home)
    wanted = remembered.archive.parent.name
    shutil.copytree(remembered.folder, copy.folder, symlinks=True)
    assert decision(pushed(copy)) in {"ask", "deny"}
    text = brief(copy)
    assert f"`unified-state config link {wanted}`" in text
    assert "Gold" not in texts(copy)
    assert decision(pushed(copy)) in {"ask", "deny"}
    assert texts(remembered) == ["Gold"]
    assert decision(pushed(remembered)) == "deny"


def test_an_archive_that_another_checkout_uses_is_not_rejoined_by_itself(
    remembered: Project, git: Callable[..., str]
) -> None:
    clone = Project(remembered.folder.parent / "clone", remembered.home)
    wanted = remembered.archive.parent.name
    git("clone", "--quiet", str(remembered.folder), str(clone.folder))
    assert clone.at_terminal("link", wanted).code == 0
    identity(remembered).unlink()
    text = brief(remembered)
    assert f"`unified-state config link {wanted}`" in text
    assert decision(pushed(remembered)) in {"ask", "deny"}
    assert (texts(clone), identity(remembered).read_text() == identity(clone).read_text()) == (["Gold"], False)


def test_another_repository_in_the_same_folder_is_not_rejoined_by_itself(
    remembered: Project, git: Callable[..., str]
) -> None:
    wanted = remembered.archive.parent.name
    note = remembered.archive.parent / "about.json"
    shutil.rmtree(remembered.folder)
    remembered.folder.mkdir()
    git("init", "--quiet", "--initial-branch", "main")
    git("commit", "--quiet", "--allow-empty", "--message", "another first commit")
    about = json.loads(note.read_text(encoding="utf-8"))  # the new folder may have been given the same inode
    marks = (remembered.folder / ".git").stat()
    ((place, fields),) = about["checkouts"].items()
    about["checkouts"][place] = {**fields, "device": marks.st_dev, "inode": marks.st_ino}
    note.write_text(json.dumps(about), encoding="utf-8")
    text = brief(remembered)
    assert ("Gold" in text, f"`unified-state config link {wanted}`" in text) == (False, True)


def forget_everything(project: Project) -> None:
    """Take away all that could tell what is enforced, but for the hook in the settings."""
    identity(project).unlink()
    shutil.rmtree(project.data)
    project.state_path.unlink()


def test_a_deny_of_which_nothing_is_left_asks_with_the_command_that_ends_it(remembered: Project) -> None:
    forget_everything(remembered)
    for _ in range(2):
        answer = pushed(remembered, "ls")
        assert decision(answer) == "ask"
        assert "`unified-state uninstall` ends this" in reason(answer)
        assert "each tool call asks" in brief(remembered)
    assert settings_hold_our_hook(remembered)


@pytest.mark.parametrize("command", [("uninstall",), ("constraint", "lift", "C1")])
def test_uninstall_and_lift_end_it_for_certain(remembered: Project, command: tuple[str, ...]) -> None:
    forget_everything(remembered)
    pushed(remembered)
    brief(remembered)
    assert remembered.run(*command, CLAUDECODE="1").code == 2
    assert settings_hold_our_hook(remembered)
    remembered.at_terminal(*command)
    assert not settings_hold_our_hook(remembered)
    assert "each tool call asks" not in brief(remembered)


def test_a_state_file_that_is_not_known_to_be_ours_asks_until_the_user_lifts_or_accepts(remembered: Project) -> None:
    identity(remembered).unlink()
    shutil.rmtree(remembered.data)
    assert decision(pushed(remembered)) == "ask"
    remembered.run("load")
    assert decision(pushed(remembered)) == "ask"
    (proposal,) = [item["id"] for item in remembered.ask("constraint", "list")]
    assert remembered.at_terminal("inbox", "accept", proposal).code == 0
    assert decision(pushed(remembered)) == "deny"
    assert remembered.at_terminal("constraint", "lift", proposal).code == 0
    assert not settings_hold_our_hook(remembered)


def test_behind_a_destroyed_archive_the_next_two_sessions_have_all_and_are_told(remembered: Project) -> None:
    remembered.archive.write_bytes(b"garbage" * 10_000)
    for _ in range(2):
        text = brief(remembered)
        assert ("Gold" in text, "[HEALTH]" in text, "set aside" in text) == (True, True, True)
        assert decision(pushed(remembered)) == "deny"
    remembered.archive.with_name("enforced.json").unlink()
    assert decision(pushed(remembered)) == "deny"
    assert texts(remembered) == ["Gold"]


def test_the_table_alone_keeps_a_deny_that_the_archive_and_the_state_file_lost(remembered: Project) -> None:
    remembered.archive.write_bytes(b"x")
    remembered.state_path.unlink()
    brief(remembered)
    assert decision(pushed(remembered)) == "deny"
    remembered.at_terminal("constraint", "lift", "C1")
    assert not settings_hold_our_hook(remembered)


def test_outside_git_a_lost_identity_is_found_again(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    project = Project(folder, home)
    project.decide("Gold")
    (folder / ".claude" / ID_FILE).unlink()
    assert project.execute((*PROGRAM, "decision", "list"), "", {}).out.startswith("D1")
    assert "Gold" in brief(project)

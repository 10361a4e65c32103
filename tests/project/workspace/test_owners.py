"""Whose files count: nothing of a parent's, of another user's, or of what others may write to."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.interfaces.cli.main import run
from unified_state.lib.read_files import not_ours
from unified_state.project.place import locate
from unified_state.settings import default_data_dir, load_settings

Git = Callable[..., str]
STRANGER = 54_321
need_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
DECISION = ("decision", "add", "Use SQLite", "--rationale", "one file")


@pytest.fixture
def data() -> Path:
    """The data folder."""
    return Path(default_data_dir())


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside git, in which commands run."""
    folder = tmp_path / "shared" / "notes"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def plant(folder: Path, identity: str = "0" * 16) -> list[Path]:
    """Put all of our files into a folder: whoever reads one of them shows it."""
    own = folder / ".claude"
    own.mkdir(exist_ok=True)
    state = {"version": "3.0.0", "summaries": {"pendingActions": ["Run the STRAY"]}}
    files = {
        "unified-state-id": json.dumps({"id": identity, "place": str(own)}),
        "unified-session-state.json": json.dumps(state),
        "unified-state.toml": "budget_max = 1777\n",
    }
    for name, content in files.items():
        (own / name).write_text(content, encoding="utf-8")
        (own / name).chmod(0o644)
    return [own / name for name in files]


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints."""
    capsys.readouterr()
    run(arguments)
    return "".join(capsys.readouterr())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_lies_in_the_folders_above_changes_nothing(
    notes: Path, tmp_path: Path, home: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    other = locate(str(tmp_path / "other"), str(data), create=True)
    planted = [path for folder in (notes.parent, tmp_path, home) for path in plant(folder, other.id or "")]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in planted}
    assert shown(capsys, *DECISION).startswith("D1")
    assert run(["install"]) == 0
    told = "".join(shown(capsys, *command) for command in (("load",), ("status",), ("config",), ("search", "STRAY")))
    assert "STRAY:" not in told
    assert "Run the STRAY" not in told
    assert "1777" not in told
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in planted} == before
    place = locate(str(notes), str(data), create=False)
    assert place.repository.worktree == str(notes)
    assert place.id != other.id
    assert (notes / ".claude" / "unified-state-id").exists()
    assert (notes / ".claude" / "settings.local.json").exists()


def test_each_folder_outside_git_has_a_memory_of_its_own_and_link_joins_two(
    notes: Path, monkeypatch: pytest.MonkeyPatch, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(DECISION) == 0
    shared = locate(str(notes), str(data), create=False).id or ""
    below = notes / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert "nothing is archived here yet" in shown(capsys, "search", "SQLite")
    assert run(["link", shared]) == 0
    assert "Use" in shown(capsys, "search", "SQLite")
    assert locate(str(below), str(data), create=False).id == shared


@pytest.mark.parametrize("stood", [0o644, 0o666, 0o777, None])
def test_the_state_file_is_private_whatever_stood_there(notes: Path, stood: int | None) -> None:
    path = notes / ".claude" / "unified-session-state.json"
    if stood is not None:
        plant(notes)
        path.chmod(stood)
        (notes / ".claude" / "unified-state-id").unlink()
    assert run(DECISION) == 0
    assert mode(path) == 0o600
    for since in (0o644, 0o666):
        path.chmod(since)
        assert run(["save"]) == 0
        assert mode(path) == 0o600
    assert len(list(path.parent.glob("*damaged*"))) == (stood == 0o666)  # what we wrote is ours all the same


def test_what_others_may_write_to_is_not_used(notes: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(DECISION) == 0
    own = locate(str(notes), str(data), create=False)
    for path in plant(notes):
        path.chmod(0o666)
    told = shown(capsys, "decision", "add", "Use WAL", "--rationale", "faster")
    assert "unified-session-state.damaged-1.json" in told
    assert "other users may write to it (mode 666)" in told
    assert locate(str(notes), str(data), create=False).id == own.id  # by its folder
    told = "".join(shown(capsys, *command) for command in (("load",), ("config",), ("doctor",)))
    assert "STRAY" not in told
    assert "1777" not in told
    assert "unified-state-id is not used" in told
    assert "unified-state.toml is ignored: other users may write to it" in told
    Path(own.archive_path).chmod(0o666)
    assert "archive.db is not used: other users may write to it" in shown(capsys, "search", "SQLite")


@need_root
def test_files_of_another_user_are_neither_used_nor_changed(
    notes: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = plant(notes)
    hidden = notes / ".claude" / "unified-state"
    hidden.mkdir()
    shutil.copy(planted[1], hidden / "archive.db")
    for path in (*planted, hidden):
        os.chown(path, STRANGER, STRANGER)
    told = "".join(shown(capsys, *command) for command in (DECISION, ("load",), ("config",), ("doctor",)))
    assert "STRAY" not in told
    assert "1777" not in told
    assert f"belongs to another user ({STRANGER})" in told
    assert "Use SQLite" in shown(capsys, "load")
    identity, state, _ = planted
    assert identity.stat().st_uid == STRANGER
    assert state.stat().st_uid == os.geteuid()
    assert mode(state) == 0o600
    assert locate(str(notes), str(data), create=False).folder.startswith(str(data))


@need_root
def test_a_repository_of_another_user_counts_as_git_counts_it(
    repository: Path, data: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (repository / "below").mkdir()
    monkeypatch.chdir(repository / "below")
    assert run(DECISION) == 0
    own = locate(str(repository), str(data), create=False)
    (repository / ".claude" / "unified-state.toml").write_text("budget_max = 1777\n", encoding="utf-8")
    for path in (repository, *repository.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    refused = locate(str(repository / "below"), str(data), create=True)
    assert (refused.repository.worktree, refused.repository.git_dir) == (str(repository / "below"), None)
    assert refused.id != own.id
    line = f"git config --global --add safe.directory {repository}"
    assert line in (refused.notice or "")
    assert line in shown(capsys, "doctor")
    git("config", "--global", "--add", "safe.directory", str(repository))
    accepted = locate(str(repository / "below"), str(data), create=False)
    assert (accepted.id, accepted.notice) == (own.id, None)
    assert "Use SQLite" in shown(capsys, "load")
    assert load_settings(str(repository), {}, accepted.repository.owner).budget_max == 1777


@need_root
def test_a_repository_that_another_user_planted_above_is_none(notes: Path, data: Path, git: Git) -> None:
    git("init", "--quiet", cwd=notes.parent)
    for path in (notes.parent / ".git", *(notes.parent / ".git").rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    assert locate(str(notes), str(data), create=True).repository.worktree == str(notes)


@pytest.mark.parametrize(
    ("permissions", "owner", "group", "is_used"),
    [
        (0o600, os.geteuid(), 0, True),
        (0o644, os.geteuid(), 0, True),
        (0o644, 0, 0, True),  # root could do anything anyway
        (0o600, STRANGER, 0, False),
        (0o620, os.geteuid(), STRANGER, False),
        (0o602, os.geteuid(), os.getegid(), False),
        (0o777, os.geteuid(), STRANGER, True),  # of a file system without modes
        (0o777, STRANGER, STRANGER, False),
    ],
)
def test_who_may_write_to_a_file_decides(permissions: int, owner: int, group: int, is_used: bool) -> None:
    found = os.stat_result((stat.S_IFREG | permissions, 1, 1, 1, owner, group, 0, 0, 0, 0))
    assert (not_ours(found) == "") == is_used


def test_the_users_private_group_may_write_as_the_usual_umask_has_it(tmp_path: Path) -> None:
    import grp
    import pwd

    names = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name
    if os.geteuid() != os.getegid() and len(set(names)) > 1:
        pytest.skip("this user has no private group")
    (tmp_path / "file").touch()
    os.chown(tmp_path / "file", -1, os.getegid())
    (tmp_path / "file").chmod(0o664)
    assert not_ours((tmp_path / "file").stat()) == ""

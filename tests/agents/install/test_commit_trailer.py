"""The git hook that names an agent's session in a commit: real git, real shell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.agents.install.commit_trailer import add_trailer, remove_trailer
from unified_state.errors import UsageError
from unified_state.interfaces.cli.main import run
from unified_state.memory.repository.find_repository import find_repository

Git = Callable[..., str]
SESSION = "5a1e0000-0000-4000-8000-00000000cafe"


def commit(repository: Path, *arguments: str, **variables: str) -> str:
    """Commit with such an environment, and return the whole message."""
    subprocess.run(
        ["git", "commit", "--quiet", "--allow-empty", *arguments], cwd=repository, env={**os.environ, **variables},
        check=True, capture_output=True,
    )  # fmt: skip
    shown = ["git", "show", "--no-patch", "--format=%B"]
    return subprocess.run(shown, cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


def installed(repository: Path) -> Path:
    return Path(add_trailer(find_repository(str(repository)), os.environ))


def test_a_commit_of_a_session_names_it_once_and_others_nothing(repository: Path) -> None:
    installed(repository)
    assert commit(repository, "-m", "one") == "one"
    assert commit(repository, "-m", "two", CLAUDE_CODE_SESSION_ID=SESSION) == f"two\n\nSession: {SESSION}"
    amended = commit(repository, "--amend", "--no-edit", CLAUDE_CODE_SESSION_ID="another")
    assert amended == f"two\n\nSession: {SESSION}"
    assert commit(repository, "-m", "three", CODEX_THREAD_ID="t1") == "three\n\nSession: codex:t1"


@pytest.mark.parametrize("session", ["$(touch pwned)", "a;touch pwned", "a\nSigned-off-by: x", "`id`", "a b", "é"])
def test_a_session_with_other_signs_is_left_out(repository: Path, session: str) -> None:
    installed(repository)
    assert commit(repository, "-m", "one", CLAUDE_CODE_SESSION_ID=session) == "one"
    assert not (repository / "pwned").exists()


def test_it_works_in_a_worktree_and_is_installed_twice_without_harm(repository: Path, git: Git, tmp_path: Path) -> None:
    path = installed(repository)
    git("worktree", "add", "--quiet", str(tmp_path / "second"))
    assert installed(tmp_path / "second") == path
    assert commit(tmp_path / "second", "-m", "one", CLAUDE_CODE_SESSION_ID="s1") == "one\n\nSession: s1"


def test_a_hook_that_is_there_is_left_alone_with_what_to_add(repository: Path) -> None:
    hook = repository / ".git/hooks/prepare-commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        installed(repository)
    assert "git interpret-trailers" in refused.value.hint
    assert remove_trailer(find_repository(str(repository))) is None
    assert hook.read_text(encoding="utf-8") == "#!/bin/sh\nexit 0\n"


def test_a_hook_to_which_the_user_added_the_lines_stays_the_users(repository: Path) -> None:
    hook = repository / ".git/hooks/prepare-commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho mine >mine\n", encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        installed(repository)
    with hook.open("a", encoding="utf-8") as file:
        file.write(str(refused.value.hint).partition("\n")[2])
    hook.chmod(0o755)
    before = hook.read_bytes()
    assert commit(repository, "-m", "one", CLAUDE_CODE_SESSION_ID=SESSION) == f"one\n\nSession: {SESSION}"
    assert (repository / "mine").exists()
    with pytest.raises(UsageError):
        installed(repository)
    assert remove_trailer(find_repository(str(repository))) is None
    assert hook.read_bytes() == before


def test_a_rule_in_a_message_does_not_end_it(repository: Path) -> None:
    installed(repository)
    message = commit(repository, "-m", "one\n\nbefore\n\n---\n\nafter", CLAUDE_CODE_SESSION_ID="s1")
    assert message.endswith("after\n\nSession: s1")


def test_an_empty_message_still_aborts_a_commit(repository: Path) -> None:
    installed(repository)
    with pytest.raises(subprocess.CalledProcessError):
        commit(repository, CLAUDE_CODE_SESSION_ID="s1", GIT_EDITOR="true")


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_a_folder_that_core_hookspath_names_is_left_alone(
    repository: Path, git: Git, tmp_path: Path, where: str
) -> None:
    folder = repository / ".husky" if where == "inside" else tmp_path / "hooks"
    folder.mkdir()
    git("config", "core.hooksPath", str(folder))
    with pytest.raises(UsageError, match=r"core\.hooksPath"):
        installed(repository)
    assert list(folder.iterdir()) == []
    assert not (repository / ".git/hooks/prepare-commit-msg").exists()


def test_outside_git_it_is_refused(project: Path) -> None:
    with pytest.raises(UsageError):
        installed(project)


def test_install_adds_it_on_request_alone_and_uninstall_removes_it(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    hook = repository / ".git/hooks/prepare-commit-msg"
    assert run(["install"]) == 0
    assert not hook.exists()
    assert run(["install", "--trailer"]) == 0
    assert str(hook) in capsys.readouterr().out
    assert run(["install"]) == 0
    assert hook.exists()
    assert run(["install", "--no-trailer"]) == 0
    assert not hook.exists()
    assert run(["install", "--trailer"]) == 0
    assert run(["uninstall"]) == 0
    assert not hook.exists()

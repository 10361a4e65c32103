"""What git is asked stays bounded, harmless and undisturbed, whatever the repository holds and wherever we run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.model.session_state import GitState
from unified_state.project.git_command import is_dropped
from unified_state.project.git_state import read_git

Git = Callable[..., str]
Read = Callable[..., GitState]

HOSTILE_NAMES = [
    "new\nline",
    "\nM  fake",
    'quo"te',
    "back\\slash",
    " leading and trailing ",
    "-dash",
    "->",
    "a -> b",
    "grüße",
    "名前",
    "👩‍👩‍👧‍👦",
    "\x1b[31mred",
    "2 R. looks like an entry",
]


@pytest.fixture
def many_files(tmp_path: Path, git: Git) -> Path:
    """A repository of 50,000 files, none of which is in the worktree."""
    folder = tmp_path / "many"
    git(tmp_path, "init", "--quiet", "many")
    files = b"".join(b"M 100644 :1 package%d/module%d/file%d.py\n" % (n % 100, n % 13, n) for n in range(50_000))
    commit = b"commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 4\nMany\n"
    git(folder, "fast-import", "--quiet", stdin=b"blob\nmark :1\ndata 6\nhello\n\n" + commit + files)
    git(folder, "read-tree", "HEAD")
    return folder


def contents(folder: Path) -> dict[Path, tuple[int, bytes]]:
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def test_fifty_thousand_changed_files_are_counted(many_files: Path, environment: dict[str, str]) -> None:
    state = read_git(str(many_files), environment)
    assert (state.error, state.changed_count, len(state.modified_files)) == (None, 50_000, 20)
    assert state.status.splitlines()[20:] == ["… and 49,980 more"]


def test_a_commit_message_of_megabytes_is_cut(repository: Path, git: Git, read: Read) -> None:
    git(repository, "commit", "--quiet", "--allow-empty", "--file", "-", stdin=b"x" * (3 << 20))
    state = read(repository)
    assert state.error is None
    assert len(state.recent_commits[0].split(" ")[1]) == 100


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_name_comes_out_as_it_is(repository: Path, git: Git, read: Read, name: str) -> None:
    (repository / name).write_text("untracked")
    git(repository, "mv", "--", "beta.txt", f"{name}-renamed")
    state = read(repository)
    assert sorted(state.modified_files) == sorted([name, f"{name}-renamed"])
    assert (state.changed_count, len(state.status.splitlines())) == (2, 2)


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="this file system takes only UTF-8 names")
def test_a_name_that_is_not_utf8_has_replacement_characters(repository: Path, read: Read) -> None:
    with open(os.fsencode(repository) + b"/caf\xe9.txt", "wb"):
        pass
    assert read(repository).modified_files == ("caf\ufffd.txt",)


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"])
def test_variables_of_another_repository_change_nothing(
    repository: Path, tmp_path: Path, environment: dict[str, str], git: Git, read: Read, variable: str
) -> None:
    expected = read(repository)
    git(tmp_path, "init", "--quiet", "elsewhere")
    environment[variable] = str(tmp_path / "elsewhere" / ".git")
    assert read(repository) == expected


def test_every_variable_that_git_calls_local_is_left_out(repository: Path, git: Git) -> None:
    local = git(repository, "rev-parse", "--local-env-vars").split()
    assert [name for name in local if not is_dropped(name)] == ["GIT_CONFIG_COUNT"]


def test_settings_for_people_change_nothing(
    repository: Path, tmp_path: Path, environment: dict[str, str], git: Git, read: Read
) -> None:
    (repository / "grüße").touch()
    git(repository, "mv", "alpha.txt", "gamma.txt")
    expected = read(repository)
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    for setting in (
        *(f"{key}={trap}" for key in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.askPass")),
        *("color.ui=always", "core.quotePath=true", "pager.status=true", "i18n.logOutputEncoding=UTF-16"),
        *("log.showSignature=true", "log.decorate=full", "format.pretty=fuller", "status.short=true"),
        *("status.showUntrackedFiles=no", "status.relativePaths=false", "status.showStash=true", "diff.noprefix=true"),
    ):
        git(repository, "config", *setting.split("=", 1))
    environment |= {"GIT_EXTERNAL_DIFF": str(trap), "GIT_TRACE": "1", "GIT_PAGER": str(trap), "LC_ALL": "de_DE.UTF-8"}
    assert read(repository) == expected
    assert not (tmp_path / "ran").exists()


def test_nothing_is_written_to_the_repository(repository: Path, read: Read) -> None:
    for name in ("alpha.txt", "beta.txt"):  # the index no longer fits; `git status` would refresh it
        os.utime(repository / name, (1, 1))
    before = contents(repository)
    assert read(repository).error is None
    assert contents(repository) == before


def test_a_partial_clone_fetches_nothing(repository: Path, tmp_path: Path, git: Git, read: Read) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", repository.as_uri(), "partial")
    partial = tmp_path / "partial"
    git(partial, "read-tree", "HEAD")
    (partial / "alpha.txt").write_text("changed\n")
    git(partial, "add", "alpha.txt")
    before = contents(partial)
    state = read(partial)
    assert contents(partial) == before
    assert (state.status, state.error) == ("M  alpha.txt\n D beta.txt", "transport 'file' not allowed")


def test_a_lock_of_the_users_own_git_is_no_hindrance(repository: Path, read: Read) -> None:
    (repository / ".git" / "index.lock").touch()
    assert read(repository).error is None


def test_what_is_known_at_the_deadline_stays(repository: Path, git: Git, read: Read) -> None:
    os.mkfifo(repository / ".gitignore")  # `git status` waits for a writer, for ever
    assert read(repository, 0.5) == GitState(
        branch="main",
        commit=git(repository, "rev-parse", "HEAD"),
        recent_commits=tuple(git(repository, "log", "--format=%h %s").splitlines()),
        error="git status took longer than 0.5 s",
    )


def test_gitpython_is_loaded_with_no_git_of_the_folder_we_are_in(repository: Path, tmp_path: Path) -> None:
    for folder in (repository, repository / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (folder / "git").chmod(0o755)
    program = (
        "import os, sys; from unified_state.project.git_command import GitPythonProcesses\n"
        "from unified_state.project.git_state import read_git\n"
        "state = read_git(os.getcwd(), os.environ, start=GitPythonProcesses)\n"
        "print(state.branch, 'git' in sys.modules)"
    )
    environ = {"PATH": f".::{repository}/bin:{os.environ['PATH']}", "GIT_PYTHON_GIT_EXECUTABLE": "./git"}
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, env=environ, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["main", "True"]
    assert not (tmp_path / "ran").exists()

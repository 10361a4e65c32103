"""`hooks/find.sh`: which of the programs on a machine the plugin takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.prefix) / "bin" / "unified-state"
SYSTEM = "/usr/bin:/bin"


@pytest.fixture
def find(home: Path, repository: Path) -> Callable[..., str]:
    """Runs it in the repository; what it printed."""

    def run(**environment: str) -> str:
        given = {"HOME": str(home), "PATH": SYSTEM, "CLAUDE_PROJECT_DIR": str(repository), **environment}
        done = subprocess.run(
            ["sh", ROOT / "hooks" / "find.sh"], env=given, cwd="/", capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert done.returncode == (0 if done.stdout else 1)
        return done.stdout.removesuffix("\n")

    return run


def put(folder: Path) -> str:
    """A program in a folder, as pipx puts it there; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unified-state").symlink_to(PROGRAM)
    return str(folder / "unified-state")


def broken(folder: Path) -> None:
    """A program whose interpreter has gone."""
    folder.mkdir(parents=True)
    path = folder / "unified-state"
    path.write_text("#!/no/such/python\n")
    path.chmod(0o755)


def test_where_there_is_none_it_says_nothing(find: Callable[..., str]) -> None:
    assert find() == ""


@pytest.mark.parametrize(
    ("place", "variable", "value"),
    [
        ("any place/bin", "PATH", f"{SYSTEM}:{{home}}/any place/bin"),
        (".local/bin", "", ""),
        (".local/share/pipx/venvs/unified-state/bin", "", ""),
        (".local/pipx/venvs/unified-state/bin", "", ""),
        ("px/venvs/unified-state/bin", "PIPX_HOME", "{home}/px"),
        (".local/share/uv/tools/unified-state/bin", "", ""),
        ("data/uv/tools/unified-state/bin", "XDG_DATA_HOME", "{home}/data"),
        ("tools/unified-state/bin", "UV_TOOL_DIR", "{home}/tools"),
        ("env/bin", "VIRTUAL_ENV", "{home}/env"),
    ],
)
def test_it_is_found_where_installers_put_it(
    find: Callable[..., str], home: Path, place: str, variable: str, value: str
) -> None:
    path = put(home / place)
    assert find(**({variable: value.format(home=home)} if variable else {})) == path


def plant(folder: Path, mark: Path) -> None:
    """A program that leaves a mark when it is run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unified-state").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (folder / "unified-state").chmod(0o755)


@pytest.mark.parametrize("place", [".venv/bin", "home/.local/bin"])
@pytest.mark.parametrize("session", ["pkg", "sub/module"])
def test_none_is_taken_from_the_repository_of_the_session_whatever_the_environment_says(
    find: Callable[..., str], repository: Path, tmp_path: Path, place: str, session: str
) -> None:
    (repository / ".gitignore").write_text(f"/{place}/\n")
    (repository / session).mkdir(parents=True, exist_ok=True)
    (repository / "sub" / "module" / ".git").parent.mkdir(parents=True, exist_ok=True)
    (repository / "sub" / "module" / ".git").write_text("gitdir: ../../.git/modules/module\n")
    (tmp_path / "link").symlink_to(repository)
    plant(repository / place, tmp_path / "ran")
    for variables in (
        {},
        {"PATH": f"{repository}/{place}:{SYSTEM}"},
        {"PATH": f"{tmp_path}/link/{place}:{SYSTEM}"},
        {"PATH": f"{place}::.:../{place}:{SYSTEM}"},
        {"VIRTUAL_ENV": str((repository / place).parent)},
        {"HOME": f"{repository}/home"},
    ):
        assert find(**{"CLAUDE_PROJECT_DIR": str(repository / session), **variables}) == ""
    assert not (tmp_path / "ran").exists()


def test_none_is_taken_from_a_folder_of_a_clone_that_looks_like_a_bare_repository(
    find: Callable[..., str], repository: Path, git: Callable[..., str], tmp_path: Path
) -> None:
    folder = repository / "pkg"
    for name, content in {
        "HEAD": "ref: refs/heads/main\n",
        "config": "[core]\n\tbare = false\n\tworktree = .\n",
        "objects/keep": "",
        "refs/heads/keep": "",
        "info/exclude": ".venv\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    plant(folder / ".venv" / "bin", tmp_path / "ran")
    git("add", "--force", ".")
    git("commit", "--quiet", "--message", "a package")
    git("clone", "--quiet", str(repository), str(tmp_path / "clone"))
    assert (tmp_path / "clone" / "pkg" / ".venv" / "bin" / "unified-state").exists()
    assert find(CLAUDE_PROJECT_DIR=str(tmp_path / "clone" / "pkg")) == ""
    assert not (tmp_path / "ran").exists()


def test_a_repository_that_holds_the_plugin_too_is_no_strangers(home: Path) -> None:
    """A home folder under git, with the plugin and the program where installers put them."""
    (home / ".git").mkdir()
    (home / "work").mkdir()
    shutil.copytree(ROOT / "hooks", home / ".claude" / "plugins" / "unified-state" / "hooks")
    path = put(home / ".local" / "bin")
    environ = {"HOME": str(home), "PATH": SYSTEM, "CLAUDE_PROJECT_DIR": str(home / "work")}
    script = home / ".claude" / "plugins" / "unified-state" / "hooks" / "find.sh"
    done = subprocess.run(["sh", script], env=environ, cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout == f"{path}\n"


def test_a_program_that_does_not_run_gives_way_to_the_next(find: Callable[..., str], home: Path) -> None:
    broken(home / "first")
    path = put(home / ".local" / "bin")
    assert find(PATH=f"{home}/first:{SYSTEM}") == path


def test_the_one_that_is_known_comes_first_unless_it_has_gone(find: Callable[..., str], home: Path) -> None:
    known, other = put(home / "known"), put(home / ".local" / "bin")
    (home / "data").mkdir()
    (home / "data" / "program").write_text(f"{sys.executable}\n{ROOT}\n{known}\n")
    assert find(CLAUDE_PLUGIN_DATA=f"{home}/data") == known
    os.unlink(known)
    assert find(CLAUDE_PLUGIN_DATA=f"{home}/data") == other


def test_the_plugins_own_stand_in_does_not_find_itself(find: Callable[..., str], home: Path) -> None:
    assert find(PATH=f"{SYSTEM}:{ROOT}/bin") == ""
    path = put(home / ".local" / "bin")
    assert find(PATH=f"{ROOT}/bin:{SYSTEM}") == path


def run(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A file of the plugin, run outside any project."""
    environ = {"HOME": str(home), "PATH": SYSTEM}
    return subprocess.run(command, env=environ, cwd=home, input="", capture_output=True, text=True, check=False)


def test_the_stand_in_runs_what_is_installed(home: Path) -> None:
    command = (str(ROOT / "bin" / "unified-state"), "--version")
    missing = run(home, *command)
    assert (missing.returncode, missing.stdout, missing.stderr.count("\n")) == (127, "", 1)
    put(home / ".local" / "bin")
    assert run(home, *command).stdout.startswith("unified-state ")


def test_the_server_ends_with_one_line_where_there_is_none(home: Path) -> None:
    done = run(home, "sh", str(ROOT / "hooks" / "mcp.sh"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_the_server_is_that_of_the_installed_program(home: Path, tmp_path: Path) -> None:
    folder = home / ".local" / "bin"
    folder.mkdir(parents=True)
    (folder / "unified-state").write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    (folder / "unified-state").chmod(0o755)
    assert run(home, "sh", str(ROOT / "hooks" / "mcp.sh")).returncode == 0
    assert (tmp_path / "calls").read_text() == "--version\nmcp\n"

"""Windows and macOS as far as Linux can show them: the platform's own rules for paths, and a Python without Unix.

Only the edge of the operating system is replaced: `os.path` by `ntpath`, `sys.platform`, and the modules and functions
that Python does not have there. What Windows itself does with files stays unknown.
"""

from __future__ import annotations

import ast
import json
import ntpath
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ROOT
from unified_state.constraints.check_call import Locator
from unified_state.hosts.install.claude_settings import settings_files
from unified_state.hosts.install.hook_launcher import launcher_path
from unified_state.hosts.install.hook_table import hook_groups, is_our_handler
from unified_state.hosts.install.install_claude_code import target
from unified_state.hosts.install.skill_file import plan_skill
from unified_state.lib.files import lies_in
from unified_state.settings import default_data_dir

from .product import Done, Project

# A Python of Windows: without these modules and functions, and with that name.
WITHOUT_UNIX = f"""
import os, sys
import asyncio, getpass, pathlib, selectors, shutil, signal, socket, subprocess, tempfile, threading
import filelock, git  # all these would look for what only Windows has; filelock keeps the functions of its Unix class
for name in ("fcntl", "pwd", "grp", "termios", "tty", "pty", "resource", "syslog"):
    sys.modules[name] = None
for name in (
    "posix_spawn", "posix_spawnp", "forkpty", "getuid", "geteuid", "getgid", "getegid", "getpgid", "getpgrp", "killpg",
    "tcgetpgrp", "setsid", "O_NOFOLLOW", "O_DIRECTORY", "O_NOCTTY", "O_SYNC", "O_DSYNC", "mkfifo",
    "chown", "fchown", "pread", "pwrite", "sched_getaffinity", "getloadavg", "set_blocking",
):
    delattr(os, name)
for name in ("SIGALRM", "setitimer", "ITIMER_REAL", "SIGHUP", "pthread_sigmask"):
    delattr(signal, name)
sys.platform = "win32"
sys.path.insert(0, {str(ROOT)!r})
"""
COMMAND = WITHOUT_UNIX + "from unified_state.interfaces.cli.main import main; main(sys.argv[1:])"
HOOK = WITHOUT_UNIX + "from unified_state.interfaces.hook import main; main(sys.argv[1:])"


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths by the rules of Windows, and the platform's name."""
    monkeypatch.setattr(os, "path", ntpath)
    monkeypatch.setattr(os, "sep", "\\")
    monkeypatch.setattr(sys, "platform", "win32")


def run(project: Project, code: str, *arguments: str, stdin: str | bytes = "", **environment: str) -> Done:
    own = {"LOCALAPPDATA": str(project.home / "local"), "APPDATA": str(project.home / "roaming"), **environment}
    return project.execute([sys.executable, "-I", "-c", code, *arguments], stdin, own)


def test_without_unix_the_main_job_goes_from_install_to_uninstall(project: Project) -> None:
    for words in (
        ["install", "--allow-reading", "--status-line"],
        ["decision", "add", "Keep notes in SQLite", "--rationale", "one file"],
        ["save"],
        ["load"],
        ["search", "notes"],
        ["doctor"],
        ["uninstall"],
    ):
        done = run(project, COMMAND, *words)
        assert done.code == 0, (words, done)
        assert "a bug" not in done.err
    assert (project.home / "local" / "unified-state" / "repositories").is_dir()


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("SessionStart brief", {"source": "compact"}),
        ("UserPromptSubmit", {"prompt": "go on"}),
        ("Stop", {}),
        ("PreCompact", {"trigger": "auto"}),
        ("SessionEnd", {"reason": "other"}),
    ],
)
def test_without_unix_hooks_work(project: Project, tmp_path: Path, event: str, fields: dict[str, Any]) -> None:
    assert run(project, COMMAND, "decision", "add", "Keep notes", "--rationale", "r").code == 0
    path = tmp_path / "s.jsonl"
    said = {"type": "user", "uuid": "1" * 8, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps({**said, "message": {"role": "user", "content": "hello"}}) + "\r\n", encoding="utf-8")
    given = project.event(event.split(maxsplit=1)[0], transcript_path=str(path), **fields)
    done = run(project, HOOK, *event.split(), stdin=given)
    assert (done.code, done.err) == (0, "")
    log = project.home / "local" / "unified-state" / "hook.log"
    assert not log.exists(), log.read_text(encoding="utf-8")
    if event.startswith("SessionStart"):
        assert "Keep notes" in done.out


def test_hooks_on_windows_are_a_program_and_arguments_and_no_shell(
    monkeypatch: pytest.MonkeyPatch, windows: None
) -> None:
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(sys, "executable", "C:\\tools\\Scripts\\python.exe")
    monkeypatch.setattr(os.path, "isfile", "C:\\tools\\Scripts\\unified-state.exe".__eq__)
    program = launcher_path()
    assert program == "C:\\tools\\Scripts\\unified-state-hook.exe"
    groups = hook_groups(default_data_dir(), program)
    handlers = [handler for entries in groups.values() for group in entries for handler in group["hooks"]]
    for handler in handlers:
        assert handler["command"] == program
        assert is_our_handler(handler)


@pytest.mark.usefixtures("windows")
def test_paths_of_windows_have_their_drive_and_backslashes() -> None:
    place = target("local", "D:\\code\\shop", {})
    assert place.settings_path == "D:\\code\\shop\\.claude\\settings.local.json"
    place = target("user", "D:\\code\\shop", {"CLAUDE_CONFIG_DIR": "C:\\Users\\ada\\.claude"})
    assert place.skills_folder == "C:\\Users\\ada\\.claude\\skills"
    found = dict(settings_files("D:\\code\\shop", {"CLAUDE_CONFIG_DIR": "C:\\Users\\ada\\.claude"}))
    assert found["user"] == "C:\\Users\\ada\\.claude\\settings.json"


@pytest.mark.usefixtures("windows")
def test_two_drives_are_two_places() -> None:
    assert lies_in("D:\\code\\shop\\.claude", "d:\\CODE\\shop")
    assert lies_in("D:/code/shop/.claude", "D:\\code\\shop")
    assert not lies_in("C:\\code\\shop\\.claude", "D:\\code\\shop")
    assert not lies_in("D:\\code\\shopping", "D:\\code\\shop")
    assert lies_in("\\\\server\\share\\a", "\\\\SERVER\\share")
    skill = plan_skill("C:\\elsewhere\\skills", "D:\\code\\shop", "unified-state", "")
    assert (skill.content, "leads out of the project" in skill.told) == (None, True)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("path", ["C:\\Users\\Ada\\Shop\\SRC\\a.py", "c:/users/ada/shop/src/A.PY", "SRC\\A.py"])
def test_a_rule_about_a_file_holds_in_every_spelling_of_windows(path: str) -> None:
    locator = Locator("C:\\Users\\ada\\shop", "C:\\Users\\ada\\shop", folds_case=True)
    assert locator.forms(path, "").relative == ("src/a.py",)


def test_a_rule_about_a_file_holds_in_every_spelling_of_macos() -> None:
    locator = Locator("/Users/ada/shop", "/Users/ada/shop", folds_case=True)
    assert set(locator.forms("/users/ADA/shop/Src/a.py", "").relative) == {"src/a.py"}
    locator = Locator("/home/ada/shop", "/home/ada/shop", folds_case=False)
    assert locator.forms("/home/ADA/shop/src/a.py", "").relative == ()


def test_a_lock_without_flock_keeps_others_out(project: Project, tmp_path: Path) -> None:
    code = WITHOUT_UNIX + (
        "from unified_state.lib.files import FileLock\n"
        "with FileLock(sys.argv[1], 5):\n"
        "    inner = subprocess.run([sys.executable, *sys.orig_argv[1:2], '-c', sys.argv[2], sys.argv[1]])\n"
        "    sys.exit(inner.returncode)\n"
    )
    inner = WITHOUT_UNIX + (
        "from unified_state.errors import StorageError\n"
        "from unified_state.lib.files import FileLock\n"
        "try:\n"
        "    with FileLock(sys.argv[1], 0.1): sys.exit(1)\n"
        "except StorageError as error:\n"
        "    sys.exit(0 if 'stayed locked' in str(error) else 2)\n"
    )
    done = run(project, code, str(tmp_path / "a.lock"), inner)
    assert done.code == 0, done


def test_every_text_file_is_opened_with_its_encoding() -> None:
    """Else it is that of the country on Windows."""
    for path in (ROOT / "unified_state").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "open":
                continue
            mode = call.args[1].value if len(call.args) > 1 and isinstance(call.args[1], ast.Constant) else "r"
            named = {word.arg for word in call.keywords}
            assert "b" in str(mode) or "encoding" in named, f"{path}:{call.lineno}"


def test_output_that_the_code_page_lacks_is_escaped(project: Project) -> None:
    assert run(project, COMMAND, "decision", "add", "Öl statt Gas → 油", "--rationale", "r").code == 0
    code = WITHOUT_UNIX + "sys.stdout.reconfigure(encoding='cp1252')\n" + COMMAND.removeprefix(WITHOUT_UNIX)
    own = {"LOCALAPPDATA": str(project.home / "local"), "APPDATA": str(project.home / "roaming")}
    shown = subprocess.run(
        [sys.executable, "-I", "-c", code, "load"], cwd=project.folder, env={**os.environ, **own},
        capture_output=True, check=False,
    )  # fmt: skip
    assert shown.returncode == 0
    assert "Öl statt Gas \\u2192 \\u6cb9" in shown.stdout.decode("cp1252")

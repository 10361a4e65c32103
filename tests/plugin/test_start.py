"""The plugin's hooks as a shell runs them: the installed program does the work, whatever has happened to its record."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.builders import SESSION, prompt, write_transcript
from tests.tools.make_hooks import plugin_hooks
from unified_state.hosts.install.claude_settings import known_program

from .test_find import PROGRAM, ROOT, SYSTEM

HANDLERS = [(event, handler) for event, (group,) in plugin_hooks()["hooks"].items() for handler in group["hooks"]]
PROMPT = next(handler for event, handler in HANDLERS if event == "UserPromptSubmit")
START = next(handler for event, handler in HANDLERS if event == "SessionStart")
SHELLS = ["/bin/sh", "/bin/bash"]


class Plugin:
    """The plugin of a user, with what the client tells it."""

    def __init__(self, home: Path, repository: Path, transcript: Path) -> None:
        self.data = home / ".claude" / "plugins" / "data" / "unified-state-unified-state"
        self.environment = {
            "HOME": str(home),
            "PATH": f"{PROGRAM.parent}:{SYSTEM}",
            "CLAUDE_PLUGIN_ROOT": str(ROOT),
            "CLAUDE_PLUGIN_DATA": str(self.data),
            "CLAUDE_PROJECT_DIR": str(repository),
        }
        self.given = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(repository)}

    def start(self, handler: dict[str, Any], shell: str = "/bin/sh", **environment: str) -> subprocess.Popen[str]:
        """Start a hook as the client does."""
        return subprocess.Popen(
            [shell, "-c", handler["command"]],
            env={**self.environment, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, handler: dict[str, Any], shell: str = "/bin/sh", **environment: str) -> str:
        """Run a hook; what it printed. It has to end well."""
        process = self.start(handler, shell, **environment)
        out, err = process.communicate(json.dumps(self.given))
        assert (process.returncode, err) == (0, "")
        return out


@pytest.fixture
def plugin(home: Path, repository: Path, tmp_path: Path) -> Plugin:
    return Plugin(home, repository, write_transcript(tmp_path / f"{SESSION}.jsonl", prompt(1, "fix it")))


def worked(home: Path, call: str) -> bool:
    """Whether a hook ran, and without a problem."""
    traces = list(home.rglob(f"runs/{call}"))
    return bool(traces) and json.loads(traces[0].read_text())[2] is None


def test_every_hook_is_run_by_the_installed_program(plugin: Plugin, home: Path) -> None:
    for number, (event, handler) in enumerate(HANDLERS):
        plugin.given["hook_event_name"] = event
        plugin.run(handler, SHELLS[number % 2])
        name, until = ".".join(handler["command"].split(";")[0].split()[2:]), time.monotonic() + 60
        while not worked(home, name):  # a Stop goes on behind the client's back
            assert time.monotonic() < until, name
            time.sleep(0.05)


def test_what_was_found_is_kept_by_its_absolute_path_and_found_again_without_looking(
    plugin: Plugin, home: Path
) -> None:
    plugin.run(START)
    assert known_program(str(plugin.data)) == (sys.executable, str(ROOT))
    plugin.run(PROMPT, PATH="/nowhere")
    assert worked(home, "UserPromptSubmit")


@pytest.mark.parametrize("record", ["/gone/python\n/gone\n/gone/unified-state\n", "\x00\xff"])
def test_a_record_that_leads_nowhere_is_written_anew(plugin: Plugin, home: Path, record: str) -> None:
    plugin.data.mkdir(parents=True)
    (plugin.data / "program").write_bytes(record.format(python=sys.executable).encode("latin-1"))
    plugin.run(PROMPT)
    assert worked(home, "UserPromptSubmit")
    assert known_program(str(plugin.data)) == (sys.executable, str(ROOT))


@pytest.mark.parametrize("data", ["/dev/null/x"])
def test_where_nothing_can_be_kept_the_hook_works_all_the_same(plugin: Plugin, home: Path, data: str) -> None:
    plugin.run(PROMPT, CLAUDE_PLUGIN_DATA=data)
    assert worked(home, "UserPromptSubmit")


def test_four_first_hooks_at_once_all_work(plugin: Plugin) -> None:
    processes = [plugin.start(PROMPT) for _ in range(4)]
    ends = [process.communicate(json.dumps(plugin.given)) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert {err for _, err in ends} == {""}
    assert known_program(str(plugin.data)) == (sys.executable, str(ROOT))
    assert [path.name for path in plugin.data.iterdir()] == ["program"]


@pytest.mark.parametrize("shell", SHELLS)
def test_without_a_program_one_line_is_said_once_and_nothing_done(plugin: Plugin, home: Path, shell: str) -> None:
    outputs = [plugin.run(handler, shell, PATH=SYSTEM) for _ in range(2) for _, handler in HANDLERS]
    (told,) = filter(None, outputs)
    assert list(json.loads(told)) == ["systemMessage"]
    assert not list(home.rglob("archive.db"))
    plugin.run(PROMPT)
    assert [path.name for path in plugin.data.iterdir()] == ["program"]  # what was said is said again, should it vanish


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("path", ["bin::{system}:."])
def test_no_program_of_the_folder_of_the_session_is_run(
    plugin: Plugin, home: Path, repository: Path, tmp_path: Path, path: str, installed: bool
) -> None:
    for name in ("sh", "rm", "mkdir", "cat", "git", "python3", "unified-state", "bin/unified-state"):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (repository / name).chmod(0o755)
    if installed:
        (home / ".local" / "bin").mkdir(parents=True)
        (home / ".local" / "bin" / "unified-state").symlink_to(PROGRAM)
    for handler in (START, PROMPT):
        command = {"command": f"cd '{repository}' && {handler['command']}"}
        plugin.run(command, PATH=path.format(system=SYSTEM))
    assert worked(home, "UserPromptSubmit") == installed
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("name", "told"), [("two words", "'{root}[mcp]'"), ('we"ird\\', "the plugin's folder"), ("$(id)", "'{root}[mcp]'")]
)
def test_wherever_the_plugin_lies_the_line_is_json_and_says_what_to_install(
    plugin: Plugin, tmp_path: Path, name: str, told: str
) -> None:
    root = tmp_path / name
    shutil.copytree(ROOT / "hooks", root / "hooks")
    line = json.loads(plugin.run(START, PATH=SYSTEM, CLAUDE_PLUGIN_ROOT=str(root)))["systemMessage"]
    assert line.endswith(f"pipx install or uv tool install {told.format(root=root)}")


@pytest.mark.parametrize("stdin", ["", "x" * 200_000])
def test_whatever_comes_on_stdin_the_hook_ends_well(plugin: Plugin, stdin: str) -> None:
    for _ in range(2):  # as the first one, and with the record that it wrote
        process = plugin.start(PROMPT)
        out, _err = process.communicate(stdin)
        assert (process.returncode, out) == (0, "")

"""What a process loads before it does anything: on the prompt path almost nothing, everywhere only what is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unified_state.state_file.manager import UnifiedStateManager

ROOT = Path(__file__).parents[2]
HEAVY = {
    "pydantic",
    "git",
    "tiktoken",
    "jsonschema",
    "filelock",
    "shtab",
    "mcp",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "psycopg",
}
# Each of these costs a hook milliseconds, and none of them does what a hook needs.
TOO_DEAR_FOR_HOOKS = HEAVY | {
    "argparse", "asyncio", "dataclasses", "inspect", "logging", "pathlib", "shutil", "socket", "tempfile", "tomllib",
    "uuid",
}  # fmt: skip

HOOK = """
import sys
root, event, part = sys.argv[1:]
sys.path.append(root)
from unified_state.interfaces import hook
hook.run(event, part)
sys.stderr.write(",".join(sys.modules))
"""
ENTRY = {
    "type": "user",
    "uuid": "11111111-2222-4333-8444-555555555555",
    "sessionId": "s",
    "timestamp": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A transcript with one prompt, so that the hooks have something to archive."""
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({**ENTRY, "message": {"role": "user", "content": "hello"}}) + "\n", encoding="utf-8")
    return path


PLUGIN_HOOK = HOOK.replace("import hook\nhook.run", "import plugin\nplugin.run")


def modules_of_hook(
    repository: Path, transcript: Path, event: str, part: str = "", *, code: str = HOOK, **fields: object
) -> set[str]:
    """The modules that a hook's process has loaded at its end, by their top-level names."""
    return top(loaded_by_hook(repository, transcript, event, part, code=code, **fields))


def loaded_by_hook(
    repository: Path, transcript: Path, event: str, part: str = "", *, code: str = HOOK, **fields: object
) -> set[str]:
    """The same by their whole names."""
    given = {"session_id": "s", "transcript_path": str(transcript), "cwd": str(repository), **fields}
    return started(code, event, part, **given)[1]


def started(code: str, *arguments: str, **given: object) -> tuple[str, set[str]]:
    """What a process prints and which modules it has loaded at its end, by their whole names."""
    command = [sys.executable, "-I", "-S", "-c", code, str(ROOT), *arguments]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return done.stdout, set(done.stderr.split(","))


def top(names: set[str]) -> set[str]:
    """Modules by their top-level names."""
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("with_install", [False, True])
def test_a_hook_of_the_plugin_loads_nothing_that_costs_milliseconds(
    repository: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch, with_install: bool
) -> None:
    if with_install:
        subprocess.run(
            [sys.executable, "-m", "unified_state.interfaces.cli.main", "install"], cwd=repository, check=True
        )
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repository))
    loaded = modules_of_hook(repository, transcript, "UserPromptSubmit", code=PLUGIN_HOOK, prompt="x")
    assert ("zlib" in loaded) != with_install  # where it yields it does not get as far as the archive
    assert loaded & TOO_DEAR_FOR_HOOKS == set()


@pytest.mark.parametrize(
    ("event", "part", "fields"),
    [
        ("UserPromptSubmit", "", {"prompt": "x"}),
        ("Stop", "", {"last_assistant_message": "done"}),
        ("SessionStart", "brief", {"source": "compact"}),
        ("SessionStart", "working_set", {"source": "compact"}),
        ("SessionEnd", "", {"reason": "other"}),
        ("SubagentStart", "", {"agent_id": "a1", "agent_type": "general-purpose"}),
    ],
)
def test_a_hook_loads_nothing_that_costs_milliseconds(
    repository: Path, transcript: Path, event: str, part: str, fields: dict[str, Any]
) -> None:
    loaded = modules_of_hook(repository, transcript, event, part, **fields)
    assert "unified_state" in loaded
    assert loaded & TOO_DEAR_FOR_HOOKS == set()


def test_pre_compact_loads_nothing_heavy(repository: Path, transcript: Path) -> None:
    assert modules_of_hook(repository, transcript, "PreCompact", trigger="auto") & HEAVY == set()


COMMANDS = """
import sys
from unified_state.interfaces.cli.main import run
for line in sys.argv[1:]:
    run(line.split())
print(",".join(sys.modules))
"""


def test_everyday_commands_load_nothing_heavy(repository: Path) -> None:
    save = [sys.executable, "-m", "unified_state.interfaces.cli.main", "save"]  # which may load what reads git
    subprocess.run(save, cwd=repository, check=True, capture_output=True)
    lines = "decision add SQLite --rationale simple|constraint add Stable --source user|status|age|load|inbox|context|"
    lines += "decision list --json|search SQLite||help|show D1|show D1 --source|preview --startup"
    command = [sys.executable, "-c", COMMANDS, *lines.split("|")]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    assert "SQLite. Why: simple" in done.stdout
    assert {name.split(".")[0] for name in done.stdout.splitlines()[-1].split(",")} & HEAVY == set()


def test_importing_the_package_imports_none_of_its_modules() -> None:
    code = "import sys; before = set(sys.modules); import unified_state; print(','.join(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.strip().split(",") if name.startswith("unified_state.")] == []


OUTPUT_HOOK = """
import sys
sys.path.append(sys.argv.pop(1))
from unified_state.interfaces import hook_tool_output
hook_tool_output.run("middle")
sys.stderr.write(",".join(sys.modules))
"""
_LONG = "".join(f"step {number} of the long way to the end\n" for number in range(400))


def modules_of_output_hook(repository: Path, command: str, output: str) -> set[str]:
    """The modules that the hook behind tool calls has loaded at its end, in full."""
    given = {"session_id": "s", "cwd": str(repository), "tool_name": "Bash", "tool_input": {"command": command}}
    answer = {"tool_use_id": "t", "tool_response": {"stdout": output, "stderr": ""}}
    shown, loaded = started(OUTPUT_HOOK, **given, **answer)
    assert bool(shown) == (command == "./walk.sh" and output == _LONG)
    return loaded


@pytest.mark.parametrize(("command", "output"), [("./walk.sh", "short"), ("cat a.py", _LONG)])
def test_an_output_that_goes_on_as_it_is_loads_neither_an_archive_nor_a_rule(
    repository: Path, command: str, output: str
) -> None:
    loaded = modules_of_output_hook(repository, command, output)
    assert top(loaded) & (TOO_DEAR_FOR_HOOKS | {"_sqlite3"}) == set()
    unwanted = (
        "unified_state.archive.archive",
        "unified_state.secrets.rules.mask",
        "unified_state.extras.lean.rules.short_form",
    )
    assert [name for name in loaded if name.startswith(unwanted)] == []


TOOL_HOOK = """
import sys
sys.path.append(sys.argv.pop(1))
from unified_state.interfaces import hook_tool_use
hook_tool_use.run()
sys.stderr.write(",".join(sys.modules))
"""


@pytest.mark.parametrize("command", ["git push --force", "ls"])
def test_the_hook_before_tool_calls_loads_neither_sqlite_nor_anything_that_costs_milliseconds(
    repository: Path, command: str
) -> None:
    UnifiedStateManager(repository).add_constraint(
        "Never force-push", "the team", scope={"commands": ["git push --force"]}, mode="deny"
    )
    shown, loaded = started(TOOL_HOOK, cwd=str(repository), tool_name="Bash", tool_input={"command": command})
    assert ("permissionDecision" in shown) == (command != "ls")
    assert top(loaded) & (TOO_DEAR_FOR_HOOKS | {"_sqlite3"}) == set()


@pytest.mark.parametrize(
    ("tool", "given"),
    [("Edit", {"file_path": "src/a.py"}), ("Bash", {"command": "ls"})],
)
def test_the_hook_that_reminds_loads_neither_sqlite_nor_anything_that_costs_milliseconds(
    repository: Path, tool: str, given: dict[str, str]
) -> None:
    install = [sys.executable, "-m", "unified_state.interfaces.cli.main", "install", "--reminders", "on"]
    subprocess.run(install, cwd=repository, check=True, capture_output=True)
    UnifiedStateManager(repository).add_decision("Keep the lock in src/a.py", "because")
    shown, loaded = started(TOOL_HOOK, session_id="s", cwd=str(repository), tool_name=tool, tool_input=given)
    assert ("Keep the lock" in shown) == (tool == "Edit")
    assert top(loaded) & (TOO_DEAR_FOR_HOOKS | {"_sqlite3"}) == set()

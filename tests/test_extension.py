"""Extras: a package of a stranger takes part, and without any the core works."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "docs" / "examples" / "longest_prompts.py"
ASK_TOOL = """
import anyio, json, sys
from mcp import Client
from unified_state.interfaces.mcp.mcp_server import Server
from unified_state.interfaces.mcp.server_project import Project

async def ask():
    async with Client(Server(Project(sys.argv[1]))) as client:
        return await client.call_tool("longest_prompts", {"limit": 1})

print(json.dumps(anyio.run(ask).structured_content))
"""
HOOK = """
import sys
from unified_state.interfaces import hook
hook.run("Stop")
print("importlib.metadata" in sys.modules)
"""


def installed(folder: Path, name: str, source: str) -> Path:
    """A folder of packages with one that has an extra, as an installer leaves it."""
    module = name.replace("-", "_")
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[unified_state.extras]\n{name} = {module}\n", encoding="utf-8")
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = installed(tmp_path / "site", "longest-prompts", EXAMPLE.read_text(encoding="utf-8"))
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{ROOT}")
    return folder


@pytest.fixture
def project(repository: Path, tmp_path: Path) -> Path:
    transcript = tmp_path / "s.jsonl"
    about = {"type": "user", "sessionId": "s", "cwd": str(repository), "timestamp": "2026-01-01T00:00:00Z"}
    entries = [
        {**about, "uuid": text, "message": {"role": "user", "content": text}} for text in ("short", "a longer prompt")
    ]
    transcript.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    run(repository, "import", str(transcript))
    return repository


def run(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "unified_state.interfaces.cli.main", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_the_example_has_at_most_40_lines() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 40


def test_a_strangers_package_adds_a_command(site: Path, project: Path) -> None:
    assert run(project, "longest", "--limit", "1").stdout == "S2  15\n"
    assert json.loads(run(project, "longest", "--json").stdout)[1] == {"ref": "S1", "characters": 5}
    assert "longest      print the longest prompts" in run(project, "help", "--all").stdout
    assert "--limit N" in run(project, "longest", "--help").stdout


def test_it_adds_a_tool(site: Path, project: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ASK_TOOL, str(project)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"prompts": [{"ref": "S2", "characters": 15}]}


def test_it_adds_a_check_and_has_settings_of_its_own(site: Path, project: Path, home: Path) -> None:
    config = home / ".config" / "unified-state" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[longest-prompts]\nlimit = 0\n", encoding="utf-8")
    checks: list[dict[str, Any]] = json.loads(run(project, "doctor", "--json", code=1).stdout)
    assert [check["message"] for check in checks if check["name"] == "longest"] == ["limit is 0"]
    assert "longest-prompts.limit" in run(project, "config").stdout
    config.write_text("[shortest-prompts]\nlimit = 0\n", encoding="utf-8")
    assert "there is no extra 'shortest-prompts'" in run(project, "config", code=1).stderr


def test_a_table_in_the_projects_own_file_counts_for_nothing(site: Path, project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "unified-state.toml").write_text("[longest-prompts]\nlimit = 0\n", encoding="utf-8")
    assert "there is no setting 'longest-prompts'" in run(project, "config", code=1).stderr


def test_one_that_cannot_be_loaded_is_left_out(site: Path, project: Path) -> None:
    installed(site, "broken", "1 / 0")
    assert "the extra broken is left out: ZeroDivisionError" in run(project, "longest").stderr


def test_it_cannot_replace_a_command(site: Path, project: Path) -> None:
    installed(site, "greedy", "COMMANDS = {'status': ('Everyday', {}, 'mine')}")
    assert "mine" not in run(project, "help", "--all").stdout
    assert "repository" in run(project, "status").stdout


def test_no_hook_and_no_command_of_the_core_reads_entry_points(site: Path, project: Path) -> None:
    installed(site, "broken", "1 / 0")
    assert run(project, "status").stderr == ""
    given = json.dumps({"session_id": "s", "cwd": str(project), "last_assistant_message": "done"})
    done = subprocess.run(
        [sys.executable, "-c", HOOK], input=given, cwd=project, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_the_core_works_without_extras(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(
        ROOT / "unified_state", copy / "unified_state", ignore=shutil.ignore_patterns("extras", "__pycache__")
    )
    monkeypatch.setenv("PYTHONPATH", str(copy))
    assert "turns 2" in run(project, "status").stdout
    assert "S2" in run(project, "search", "longer").stdout
    assert run(project, "decision", "add", "Keep it", "--rationale", "it works").stdout == "D1\n"
    assert "blame" not in run(project, "help", "--all").stdout
    assert "made without the extra" in run(project, "search", "longer", "--team", code=1).stderr
    code = "import unified_state as us; print(us.__file__, [getattr(us, name) for name in us.__all__])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(copy))

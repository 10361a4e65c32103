"""The MCP server as a process: what it was told is kept, whatever its client says and however both of them end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from time import monotonic, sleep

import pytest

from tests.amount import amount

from .mcp_client import NEW_ERA, OLD_ERA, McpClient
from .product import PATIENCE, PROGRAM, Project, archive_is_whole, valid_state

SERVERS, ADDS, KILLS = 4, amount(12, 3), amount(8, 2)
SEED = 20_261_122
GARBAGE = {
    "no JSON": b"garbage\n",
    "no UTF-8": b"\xff\xfe\x00\n",
    "a list": b"[]\n",
    "an empty object": b"{}\n",
    "a request with a list": b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}\n',
    "very deep": b"[" * 100_000 + b"\n",
    "very long": b"x" * 5_000_000 + b"\n",
}


def test_without_the_extra_one_line_says_what_to_install(project: Project) -> None:
    without = "import sys; sys.modules['mcp'] = None; from unified_state.interfaces.cli.main import main; main(['mcp'])"
    done = subprocess.run(
        [sys.executable, "-c", without],
        cwd=project.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "-m pip install 'mcp>=2,<3'" in done.stderr


@pytest.mark.parametrize("era", [OLD_ERA, NEW_ERA])
def test_clients_of_both_eras_record_and_read(project: Project, era: str) -> None:
    with McpClient(project, era) as client:
        assert client.add("Use SQLite") == "D1"
        assert client.call("show", id="D1")["structuredContent"]["body"]["decision"] == "Use SQLite"
        assert client.end() == (0, "")
    assert [item["decision"] for item in project.ask("decision", "list")] == ["Use SQLite"]


def test_garbage_is_answered_by_one_error_and_the_server_goes_on(project: Project) -> None:
    with McpClient(project) as client:
        for number, (name, line) in enumerate(GARBAGE.items(), 1):
            client.write(line)
            answer = client.read()
            assert (answer["id"], answer["error"]["code"]) in {(None, -32700), (None, -32600)}, name
            assert client.add(f"still there after {name}") == f"D{number}"
        assert client.end() == (0, "")


def test_a_client_that_reads_no_answers_any_more_leaves_no_server(project: Project) -> None:
    with McpClient(project) as client:
        client.stdout.close()
        client.write({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
        assert client.process.wait(PATIENCE) == -signal.SIGPIPE


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_server_at_once(project: Project, name: str) -> None:
    number = signal.Signals[name]
    before = signal.signal(
        number, signal.SIG_DFL
    )  # what the tests' own parent ignores, as nohup does, a child ignores too
    try:
        with McpClient(project) as client:
            client.process.send_signal(number)
            assert client.process.wait(PATIENCE) == -number
    finally:
        signal.signal(number, before)


def test_nothing_acknowledged_is_lost_when_servers_are_killed(project: Project) -> None:
    project.decide("before")
    chances = Random(SEED)
    acknowledged: list[str] = []
    for number in range(KILLS):
        with McpClient(project) as client, ThreadPoolExecutor(1) as pool:
            acknowledged.append(client.add(f"run {number} begins"))
            killed = pool.submit(_kill_after, client, chances.uniform(0.0, 0.3))
            with suppress(EOFError, BrokenPipeError):
                acknowledged.extend(client.add(f"run {number} decides {count}") for count in range(1_000))
            killed.result()
    assert len(acknowledged) > KILLS, "the servers were killed before they did anything"
    items = [item["id"] for item in project.ask("decision", "list")]
    assert set(acknowledged) <= set(items)
    assert len(items) == len(set(items))
    assert archive_is_whole(project.archive)
    assert project.run("load").code == 0
    assert valid_state(project.state_path.read_bytes())


def test_a_server_ends_when_its_client_is_killed(project: Project, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    parent = f"""
import subprocess, sys, time
server = subprocess.Popen({[*PROGRAM, "mcp"]!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
open({str(told)!r}, "w").write(str(server.pid))
print("ready", flush=True)
time.sleep(600)
"""
    client = subprocess.Popen([sys.executable, "-c", parent], cwd=project.folder, stdout=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"ready\n"
    client.kill()
    client.communicate()
    deadline = monotonic() + PATIENCE
    while not _has_ended(int(told.read_text())):
        assert monotonic() < deadline, "the server outlived its client"
        sleep(0.05)


def test_the_server_works_in_the_project_of_the_client_that_starts_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project.folder))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with McpClient(Project(elsewhere, project.home)) as client:
        client.add("Use SQLite")
    assert len(project.ask("decision", "list")) == 1


def test_stray_output_of_what_it_starts_never_reaches_stdout(project: Project, git: Callable[..., str]) -> None:
    git("config", "core.fsmonitor", "echo stray")
    with McpClient(project) as client:
        assert client.add("Use SQLite") == "D1"
        assert json.dumps(client.call("list"))


def _kill_after(client: McpClient, seconds: float) -> None:
    sleep(seconds)
    client.process.kill()


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"

"""Promise 2: the hook never hangs. Whatever it reads, and whatever becomes of its stdout, it ends with exit 0."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from unified_state.hosts.install.hook_table import tool_hook_group
from unified_state.model.hook_event import TIMEOUTS
from unified_state.settings import default_data_dir

from .product import PROGRAM, Done, Project, hook_command, launched

SECONDS = 60  # by which a hook that does not hang has ended, however slow the machine
PARTS = {"SessionStart": ("brief", "working_set")}
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def tool_hook() -> list[str]:
    """The command line of the hook before tool calls."""
    (handler,) = tool_hook_group(default_data_dir(), "launcher")["hooks"]
    return launched(handler["args"])


def every_hook(project: Project, transcript: Path) -> list[tuple[str, list[str], bytes]]:
    """Each hook of an event, its command and its input."""
    fields = {"transcript_path": str(transcript), "prompt": "x", "agent_id": "", "trigger": "auto", "source": "compact"}
    calls = [
        (event, hook_command(event, part), project.event(event, **fields))
        for event in TIMEOUTS
        for part in PARTS.get(event, ("",))
    ]
    subagent = {**fields, "agent_id": "a1", "agent_type": "general-purpose"}
    calls += [(event, hook_command(event), project.event(event, **subagent)) for event in ("SubagentStart", "Stop")]
    call = {**fields, "tool_name": "Bash", "tool_input": {"command": "git push --force"}}
    return [*calls, ("PreToolUse", tool_hook(), project.event("PreToolUse", **call))]


def run_all(project: Project, transcript: Path) -> None:
    """Run each hook; each has to end with exit 0."""
    for event, command, given in every_hook(project, transcript):
        try:
            done = subprocess.run(
                command, input=given, capture_output=True, cwd=project.folder, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            pytest.fail(f"{event} hangs")
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), (event, done)


@pytest.fixture
def used(begun: Project) -> Project:
    """A project with a known session, a decision, and a constraint that denies."""
    begun.at_terminal(
        *("constraint", "add", "never force-push", "--source", "me"),
        *("--scope", "command:git push --force", "--mode", "deny"),
    )
    return begun


def replace_by_pipe(path: Path) -> None:
    if path.is_dir():
        path.rename(path.with_name("former"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


PLACES = (
    ".git",
    ".git/HEAD",
    ".git/packed-refs",
    ".git/info/exclude",
    ".git/unified-state-id",
    ".git/config",
    ".git/logs/HEAD",
    ".claude/unified-state.toml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/unified-session-state.json",
    ".claude/rules/unified-state.md",
)


@pytest.mark.parametrize("place", PLACES)
def test_no_hook_hangs_where_a_file_of_the_repository_is_a_named_pipe(
    used: Project, tmp_path: Path, place: str
) -> None:
    replace_by_pipe(used.folder / place)
    run_all(used, tmp_path / "s.jsonl")


def test_no_hook_hangs_on_a_transcript_that_is_a_named_pipe(used: Project, tmp_path: Path) -> None:
    replace_by_pipe(tmp_path / "s.jsonl")
    run_all(used, tmp_path / "s.jsonl")


@pytest.mark.parametrize("path", ["/proc/kmsg", "/dev/zero", "/dev/tty"])
def test_no_hook_hangs_on_a_transcript_that_is_a_file_of_the_system(used: Project, path: str) -> None:
    run_all(used, Path(path))


def ended(command: list[str], given: bytes, folder: Path, stdout: int | None) -> Done:
    """How a hook ends whose stdout is a descriptor, or closed."""
    with subprocess.Popen(
        command if stdout is not None else ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as process:
        _, told = process.communicate(given, SECONDS)
        return Done(process.returncode, "", told.decode())


def into_nothing(command: list[str], given: bytes, folder: Path) -> list[Done]:
    """How a hook ends with a closed stdout, with a full one, and with one whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    full = os.open(FULL, os.O_WRONLY)
    try:
        return [ended(command, given, folder, stdout) for stdout in (None, full, writer)]
    finally:
        os.close(writer)
        os.close(full)


@needs_full
@pytest.mark.parametrize("command", [tool_hook(), [*PROGRAM, "hook", "PreToolUse"]], ids=["installed", "by hand"])
def test_a_denied_call_whose_answer_cannot_be_written_is_blocked_with_its_reason(
    used: Project, command: list[str]
) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
    for done in into_nothing(command, used.event("PreToolUse", **call), used.folder):
        assert done.code == 2, done
        assert "never force-push" in done.err
        assert "Traceback" not in done.err


STUCK = """
import sys, time
sys.path.append(sys.argv[1])
from unified_state.interfaces import tool_hook
tool_hook.TIMEOUTS["Stop"] = 0.5
run = tool_hook.Run("Stop", sys.argv[2])
def wait():
    while True:
        try:
            time.sleep(600)
        except Exception:
            continue
tool_hook.limit_time("Stop")
assert run.attempt(wait) == ""
run.leave_trace()
time.sleep(2)  # no alarm is left that would end the process
"""


def test_a_hook_that_is_stuck_is_stopped_and_says_where(project: Project) -> None:
    root = Path(__file__).parents[2]
    done = project.execute([sys.executable, "-I", "-S", "-c", STUCK, str(root), str(project.data)], "", {})
    assert (done.code, done.out, done.err) == (0, "", "")
    (line,) = map(json.loads, project.log().splitlines())
    assert line["problem"] == "it was stopped after 0.45 seconds"
    assert "in wait" in line["details"]


SLOW = """
CREATE VIEW rewind AS WITH RECURSIVE number(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM number)
SELECT 1 AS session, at AS after_at, at AS until_at FROM number WHERE at < 0
"""
LIMITED = """
import sys
sys.path.append(sys.argv[1])
from unified_state.model.hook_event import TIMEOUTS
TIMEOUTS["SessionStart"] = float(sys.argv[2])
from unified_state.interfaces import hook
hook.main(["SessionStart", "brief"])
"""


def test_a_start_that_runs_out_of_time_prints_what_it_has(project: Project) -> None:
    project.run("constraint", "add", "Never push to main", "--source", "the user")
    with closing(sqlite3.connect(project.archive)) as archive:
        archive.execute("DROP TABLE rewind")
        archive.execute(SLOW)  # reading it never ends
    for seconds in (1, 8, 64):  # a busy machine needs more than the first
        command = [sys.executable, "-c", LIMITED, str(Path(__file__).parents[2]), str(seconds)]
        done = project.execute(command, project.event("SessionStart", source="startup"), {})
        assert done.code == 0
        answered = json.loads(done.out)
        if "hookSpecificOutput" in answered:
            break
        assert "nothing was restored" in answered["systemMessage"]
    told = answered["hookSpecificOutput"]["additionalContext"]
    assert "Never push to main" in told
    assert "[HEALTH] not everything could be read in time" in told

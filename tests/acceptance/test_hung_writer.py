"""A process that hangs while it writes: readers go on beside it, or end soon with one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from .product import PROGRAM, Done, Project, all_bytes, hook_command, told_in_one_line

HOOKS = ("UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
EACH = 3  # processes of each hook
SOON = 29  # seconds in which all have ended, which wait for three; a command that writes waits for thirty
READING: tuple[tuple[str, ...], ...] = (
    ("search", "hello"),
    ("status",),
    ("load",),
    ("age",),
    ("show", "T1"),
    ("decision", "list"),
    ("inbox",),
    ("export",),
    ("show", "--source", "D1"),
    ("preview",),
    ("context",),
    ("validate",),
)
HOLD = """
import sqlite3, sys, time
archive = sqlite3.connect(sys.argv[1], isolation_level=None)
archive.execute(f"BEGIN {sys.argv[2]}")
archive.execute("UPDATE item SET status = status")
print("held", flush=True)
time.sleep(600)
"""
HOLD_LOCK = """
import fcntl, sys, time
lock = open(sys.argv[1], "a")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def hang() -> Iterator[Callable[..., int]]:
    """Starts a process that holds a lock until the end of the test, and gives its id."""
    with ExitStack() as ends:

        def start(code: str, *arguments: str) -> int:
            holder = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE)
            ends.callback(holder.communicate)
            ends.callback(holder.kill)
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            return holder.pid

        yield start


def at_once(project: Project, commands: tuple[tuple[str, ...], ...]) -> list[Done]:
    """How commands end that run side by side; each has to end soon."""
    running = [
        subprocess.Popen(
            [*PROGRAM, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=project.folder,
        )
        for command in commands
    ]
    done = []
    for process in running:
        out, err = process.communicate(timeout=SOON)
        done.append(Done(process.returncode, out.decode(), err.decode()))
    return done


def test_reading_commands_answer_beside_a_writer_that_hangs(begun: Project, hang: Callable[..., int]) -> None:
    expected = {command: begun.run(*command).code for command in READING}
    hang(HOLD, str(begun.archive), "IMMEDIATE")
    for command, done in zip(READING, at_once(begun, READING), strict=True):
        told = done.err if command == ("inbox",) else done.out  # nothing is there
        assert (done.code, bool(told)) == (expected[command], True), (command, done)


def test_reading_commands_end_with_one_line_while_sqlite_lets_nobody_read(
    begun: Project, hang: Callable[..., int]
) -> None:
    hang(HOLD, str(begun.archive), "EXCLUSIVE")
    for command, done in zip(READING, at_once(begun, READING), strict=True):
        assert told_in_one_line(done), (command, done)
        assert "another process writes" in done.err


def test_reading_commands_end_with_one_line_while_the_state_file_is_locked(
    begun: Project, hang: Callable[..., int]
) -> None:
    hang(HOLD_LOCK, str(begun.state_path).removesuffix(".json") + ".lock")
    load, age = at_once(begun, (("load",), ("age",)))
    assert told_in_one_line(load), load
    assert (age.code, age.out.partition(" ")[0]) == (0, "saved"), age  # it writes nothing, so it needs no lock


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_stopped_process_that_holds_the_archive_delays_no_hook_for_longer_than_it_waits(
    begun: Project, hang: Callable[..., int], lock: str
) -> None:
    stopped = hang(HOLD, str(begun.archive), lock)
    os.kill(stopped, signal.SIGSTOP)

    def run(event: str, number: int) -> int:
        given = begun.event(event, session_id=f"{event}{number}", prompt=f"said in {event}{number}.", trigger="auto")
        command = hook_command(event)
        done = subprocess.run(command, input=given, capture_output=True, cwd=begun.folder, timeout=SOON, check=False)
        return done.returncode

    with ThreadPoolExecutor(len(HOOKS) * EACH) as pool:
        codes = list(pool.map(run, HOOKS * EACH, [number for number in range(EACH) for _ in HOOKS]))
    assert set(codes) == {0}
    os.kill(stopped, signal.SIGCONT)
    os.kill(stopped, signal.SIGKILL)
    assert begun.run("decision", "list").code == 0  # what waits joins the archive
    kept = all_bytes([begun.data])
    assert all(f"said in UserPromptSubmit{number}.".encode() in kept for number in range(EACH))


def test_a_compaction_is_guided_while_the_state_file_is_locked(begun: Project, hang: Callable[..., int]) -> None:
    hang(HOLD_LOCK, str(begun.state_path).removesuffix(".json") + ".lock")
    done = begun.hook("PreCompact", session_id="s", trigger="auto")
    assert (done.code, "use SQLite" in done.out) == (0, True)
    assert "stayed locked by another process for 4 seconds" in begun.log()


def test_what_killed_processes_left_is_removed(begun: Project, tmp_path: Path) -> None:
    of_state = begun.state_path.with_name(f"{begun.state_path.name}.123.0badc0de.tmp")
    foreign = begun.state_path.with_name("other.json.123.0badc0de.tmp")
    folder = begun.archive.parent
    old = [
        folder / name
        for name in ("archive.db.1.0badc0de.tmp", "archive.db.1.0badc0de.tmp-journal", "pending/s.json.1.0badc0de.tmp")
    ]
    new = folder / "enforced.json.1.0badc0de.tmp"
    for path in (of_state, foreign, *old, new):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"{")
    for path in old:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    begun.hook("SessionStart", "brief", session_id="s", source="startup")
    begun.decide("go on")
    assert [path for path in (of_state, foreign, *old, new) if path.exists()] == [foreign, new]
    assert begun.log() == ""

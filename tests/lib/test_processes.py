"""Programs run side by side: nothing blocks, nothing is left behind, and nothing half read counts as an answer."""

from __future__ import annotations

import os
import shlex
import sys
import time

import pytest

from unified_state.lib.processes import Excerpt, Processes, Program

ENVIRONMENT = {"PATH": os.defpath, "GREETING": "hello"}
A_LONG_WHILE = "exec sleep 600"


def shell(script: str, limit: int = 1 << 20) -> tuple[Program, Excerpt]:
    output = Excerpt(limit)
    return Program("sh", ["/bin/sh", "-c", script], output), output


def finish(*programs: Program, seconds: float = 60.0) -> None:
    Processes([*programs], ENVIRONMENT).finish(time.monotonic() + seconds)


def no_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def test_each_program_has_its_own_output_complaint_and_exit_code() -> None:
    first, greeting = shell('echo "$GREETING"')
    second, nothing = shell("echo no >&2; exit 3")
    finish(first, second)
    assert (greeting.content, first.complaint.content, first.exit_code) == (b"hello\n", b"", 0)
    assert (nothing.content, second.complaint.content, second.exit_code) == (b"", b"no\n", 3)
    assert no_children()


def test_large_outputs_on_every_stream_block_nobody() -> None:
    both = "head -c 500000 /dev/zero >&2; head -c 500000 /dev/zero; head -c 500000 /dev/zero >&2"
    programs = [shell(both) for _ in range(3)]
    finish(*(program for program, _ in programs))
    assert [len(output.content) for _, output in programs] == [500_000] * 3
    assert [len(program.complaint.content) for program, _ in programs] == [4096] * 3
    assert [program.exit_code for program, _ in programs] == [0] * 3


def test_a_program_that_takes_too_long_is_killed_and_the_others_are_heard() -> None:
    before, _ = shell(A_LONG_WHILE)
    quick, output = shell("echo quick")
    after, _ = shell(A_LONG_WHILE)
    finish(before, quick, after, seconds=0.5)
    assert (before.exit_code, after.exit_code) == (None, None)
    assert (output.content, quick.exit_code) == (b"quick\n", 0)
    assert no_children()


def test_a_program_that_closes_its_outputs_and_goes_on_is_killed() -> None:
    program, _ = shell("exec >&- 2>&-; " + A_LONG_WHILE)
    finish(program, seconds=0.2)
    assert program.exit_code is None
    assert no_children()


def test_children_of_a_killed_program_go_with_it() -> None:
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)
    program, _ = shell("sleep 600 & wait")
    processes = Processes([program], ENVIRONMENT)
    os.close(theirs)
    processes.finish(time.monotonic() + 0.2)
    with open(ours, "rb") as pipe:
        assert pipe.read() == b""  # ends only when nobody can write to it any more


def test_a_program_that_leaves_its_group_is_killed_all_the_same() -> None:
    move = "import os, time; os.setpgid(0, os.getpgid(os.getppid())); time.sleep(600)"
    program, _ = shell(f"exec {shlex.quote(sys.executable)} -S -c {shlex.quote(move)}")
    finish(program, seconds=1)
    assert program.exit_code is None
    assert no_children()


def test_a_program_that_cannot_start_stops_the_others_and_leaves_nothing_open() -> None:
    running, _ = shell(A_LONG_WHILE)
    missing = Program("missing", ["/missing/program"], Excerpt(10))
    before = os.listdir("/dev/fd")
    with pytest.raises(FileNotFoundError):
        Processes([running, missing], ENVIRONMENT)
    assert os.listdir("/dev/fd") == before
    assert no_children()

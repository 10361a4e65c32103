"""Reads are bounded: lines of 50 MB are archived within 200 MiB, and longer ones are left out and told of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .product import Project, hook_command
from .transcripts import Transcript

MOST = 200  # MiB
MEGABYTES_50 = 50_000_000
# Starts a hook and prints the most memory that it had. A process of its own, because a child is begun with the memory
# of its parent.
MEASURE = """
import os, resource, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss // 1024, file=sys.stderr)
"""
TEXTS = (
    "a" * MEGABYTES_50,
    "ö" + "the quick brown fox jumps over the lazy dog\n" * (MEGABYTES_50 // 44),
    [{"type": "image", "source": {"type": "base64", "media_type": "x", "data": "iVBO" * (MEGABYTES_50 // 4)}}],
)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the memory is measured as Linux counts it")


def memory_of(project: Project, event: str, **fields: object) -> int:
    """The most MiB that a hook had, which has to end with exit 0."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURE, *hook_command(event)],
        input=project.event(event, **fields),
        capture_output=True,
        cwd=project.folder,
        check=True,
    )
    code, used = done.stderr.split()[-2:]
    assert code == b"0", done
    return int(used)


@linux_only
def test_lines_of_50_megabytes_are_archived_in_200_mebibytes(project: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    for text in ("before", *TEXTS, "after"):
        written.prompt(text)
    path = str(written.write(tmp_path / "s.jsonl"))
    del written
    for event in ("UserPromptSubmit", "PreCompact"):  # a prompt does not wait for them
        assert memory_of(project, event, transcript_path=path, prompt="", trigger="auto") < MOST
    before, *long, after = project.export("s")
    assert (before["text"], after["text"]) == ("before", "after")
    assert [len(step["text"]) > MEGABYTES_50 - 100 for step in long] == [True] * len(TEXTS)


@linux_only
def test_a_line_of_500_megabytes_is_left_out_and_told_of(project: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("before")
    path = written.write(tmp_path / "s.jsonl")
    with path.open("r+b") as file:
        file.seek(500_000_000)  # a hole, which takes no room
        file.write(b"x")
    for event in ("UserPromptSubmit", "PreCompact", "UserPromptSubmit"):
        assert memory_of(project, event, transcript_path=str(path), prompt="", trigger="auto") < MOST
    written.lines = [b"\n"]
    written.prompt("after")
    with path.open("ab") as file:
        file.write(written.content)
    project.hook("Stop", transcript_path=str(path))
    assert [step["text"] for step in project.export("s")] == ["before", "after"]
    assert f"{path} has an entry of more than 64 MB: it is left out" in project.log()


def test_an_input_that_is_too_long_is_ignored_and_told_of(project: Project) -> None:
    done = project.hook_given("Stop", b'{"a": "' + b"x" * (1 << 26) + b'"}')
    assert (done.code, done.out) == (0, "")
    assert "the input has more than 64 MB" in project.log()

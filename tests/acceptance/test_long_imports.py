"""A long transcript is imported by two processes. The archive is the same as that of one process, whatever happens."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.builders import Entry, answer, boundary, call, prompt, result, summary, write_transcript
from unified_state.lib.processes import count_processors

from .product import PROGRAM, Project

KEY = "mask.key"
BEGUN, STEPS = 200, 2_000
LINES = 150  # lines of a tool's output in each entry

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux" or not shutil.which("taskset"), reason="a test needs taskset"),
    pytest.mark.skipif(count_processors() < 2, reason="a second process needs a second processor"),
]


def entries() -> Iterator[Entry]:
    """A session of 24 MB, with secrets, a compaction, an error, long outputs and a long line."""
    yield prompt(1, "Never log tokens. Fix src/a.py")
    for number in range(2, 1400, 2):
        use, text = (
            f"toolu_01{number:06}",
            f"src/mod{number}.py:1: 值 getUserProfile{number} = x\n" * (LINES + number // 2),
        )
        yield answer(number, f"I look at mod{number}.", call(use, "Bash", command=f"grep -n x mod{number}"))
        text += f"API_KEY=sk-ant-api03-{number:08}aZ3kQ9xWvB7mN2pL5tR8yU1i\n" if number % 50 == 0 else ""
        text *= 300 if number == 1300 else 1
        yield result(number + 1, use, text, is_error=number % 90 == 0)
    yield boundary(1402)
    yield summary(1403, "The work was about src/mod1.py. Next: tests.")
    yield prompt(1404, "Go on")


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_transcript(tmp_path_factory.mktemp("long") / "s.jsonl", *entries())
    assert path.stat().st_size > 21 << 20
    return path


def new_project(folder: Path, *prefix: str) -> Project:
    """A checkout with a home of its own, and the same key for masks."""
    project = Project(folder / "project", folder / "home", prefix)
    project.folder.mkdir(parents=True)
    project.data.mkdir(mode=0o700, parents=True)
    (project.data / KEY).write_bytes(b"k" * 32)
    (project.data / KEY).chmod(0o600)
    subprocess.run(["git", "init", "--quiet", str(project.folder)], check=True)
    return project


@pytest.fixture(scope="module")
def alone(transcript: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], int]:
    """The steps and the size of an archive that one process made."""
    project = new_project(tmp_path_factory.mktemp("alone"), "taskset", "-c", "0")
    assert project.run("import", str(transcript)).code == 0
    return steps_of(project), project.archive.stat().st_size


def steps_of(project: Project) -> list[str]:
    """The steps of an export. Items have uuids of their own."""
    return [line for line in project.run("export").out.splitlines() if json.loads(line)["ref"].startswith("S")]


def count_steps(project: Project) -> int:
    with closing(sqlite3.connect(project.archive)) as connection:
        return int(connection.execute("SELECT count(*) FROM step").fetchone()[0])


def begun(project: Project, path: Path) -> subprocess.Popen[bytes]:
    """An import that has written a part, in a group of processes of its own."""
    process = subprocess.Popen(
        [*PROGRAM, "import", str(path)],
        cwd=project.folder,
        env={**os.environ, "HOME": str(project.home)},
        start_new_session=True,
        stderr=subprocess.PIPE,
    )
    while not (project.archives and count_steps(project) > BEGUN):
        assert process.poll() is None
        time.sleep(0.01)
    return process


def is_over(group: int) -> bool:
    """Whether no process of a group is left, after a moment at most."""
    for _ in range(500):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_two_processes_archive_what_one_does(transcript: Path, alone: tuple[list[str], int], tmp_path: Path) -> None:
    project = new_project(tmp_path)
    done = project.run("import", str(transcript))
    assert (done.code, done.err) == (0, "")
    assert (steps_of(project), project.archive.stat().st_size) == alone
    assert len(alone[0]) > STEPS
    assert "sk-ant-api03" not in "".join(alone[0])


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_import_that_was_killed_leaves_no_process_and_is_resumed(
    transcript: Path, alone: tuple[list[str], int], tmp_path: Path, how: signal.Signals
) -> None:
    project = new_project(tmp_path)
    process = begun(project, transcript)
    assert Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text() != ""
    (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)  # ^C reaches both processes
    _, told = process.communicate()
    assert process.returncode != 0
    assert b"Traceback" not in told
    assert is_over(process.pid)
    assert project.run("import", str(transcript)).code == 0
    assert steps_of(project) == alone[0]

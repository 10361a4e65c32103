"""A project with a session, items and a compaction in it, and one in which nothing was ever recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import SESSION, answer, call, prompt, result, write_transcript
from tests.fork_server import COMMAND, run_ours

RECORDED = (
    ("decision", "add", "Token bucket in Redis", "--rationale", "four workers share it"),
    ("constraint", "add", "Never touch migrations", "--source", "the user"),
    ("question", "add", "Which burst?", "--context", "sales asked", "--priority", "high"),
    ("evidence", "add", "--type", "error", "WRONGTYPE", "--source", "pytest"),
    ("attempt", "add", "A retry in the client", "--outcome", "counted twice"),
)


@pytest.fixture
def recorded(repository: Path, tmp_path: Path) -> Path:
    """A repository with five items, and a session of two turns."""
    path = write_transcript(
        tmp_path / "t" / f"{SESSION}.jsonl",
        prompt(1, "Add a token bucket"),
        answer(2, call("c1", "Bash", command="make test")),
        result(3, "c1", "121 passed"),
        prompt(4, "Go on with the burst"),
        answer(5, "The burst is next."),
    )
    for arguments in (*RECORDED, ("import", str(path))):
        run_ours([*COMMAND, *arguments], repository).check_returncode()
    return repository


@pytest.fixture
def empty(repository: Path) -> Path:
    """A repository in which nothing was recorded."""
    return repository

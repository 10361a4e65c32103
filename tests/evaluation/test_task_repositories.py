"""Where the repository of a task comes from: a git bundle, a script that copies a library, a folder of files."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.live.budget import Budget
from evaluation.live.client_world import ClientWorld
from evaluation.live.grading import build, grade
from evaluation.live.relay import Relay, Upstream
from evaluation.tasks import Task, find_tasks
from tests.sandboxed.sandbox import unavailable

LIMITER = Path(__file__).parents[2] / "evaluation" / "own_tasks" / "limiter"
WRONG, RIGHT = (
    "return int((count - self.tokens) / REFILL)",
    "return min(60, 1 + int(-(-(count - self.tokens) // REFILL)))",
)
BUILD = """import os, shutil, sys
shutil.copytree(os.environ["SDEBENCH_BOLTONS_HOST"], sys.argv[1], dirs_exist_ok=True)
"""


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A clone of a library: the files of our own task."""
    return shutil.copytree(LIMITER / "repository", tmp_path / "host")


@pytest.fixture
def world(tmp_path: Path, host: Path) -> Iterator[ClientWorld]:
    """A world that sees the tasks and the library. Its relay is never asked."""
    if reason := unavailable():
        pytest.skip(reason)
    budget = Budget(tmp_path / "spending.jsonl", 0, {})
    with ClientWorld(
        tmp_path / "w",
        lambda listener: Relay(listener, Upstream("http://127.0.0.1:1", "key"), budget, tmp_path / "requests.jsonl"),
        [tmp_path / "tasks", host],
    ) as made:
        yield made


@pytest.fixture
def task_folder(tmp_path: Path) -> Path:
    """A task like sde-bench's, without a repository."""
    folder = tmp_path / "tasks" / "limiter" / "tasks" / "main"
    folder.mkdir(parents=True)
    for name in ("regression_test.py", "hidden_test.py", "rule_health.py"):
        shutil.copy(LIMITER / name, folder)
    details = json.loads((LIMITER / "task.json").read_text(encoding="utf-8"))
    (folder / "task.json").write_text(json.dumps({**details, "build": "build.py"}), encoding="utf-8")
    return folder


def the_task(folder: Path) -> Task:
    (task,) = find_tasks(folder.parents[2])
    return task


def is_solved_by_the_right_fix_alone(world: ClientWorld, task: Task) -> bool:
    """Whether the tests of a task fail before its fix and pass behind it."""
    before = grade(world, task).solved
    path = world.project / "shop" / "limiter.py"
    text = path.read_text(encoding="utf-8")
    assert WRONG in text
    path.write_text(text.replace(WRONG, RIGHT), encoding="utf-8")
    return grade(world, task).solved and not before


def test_a_git_bundle_makes_it(world: ClientWorld, task_folder: Path, host: Path) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    for command in (
        ("init", "--quiet"), ("add", "."), (*name, "commit", "--quiet", "-m", "the library"),
        ("bundle", "create", "--quiet", str(task_folder / "repository.bundle"), "HEAD"),
    ):  # fmt: skip
        subprocess.run(["git", *command], cwd=host, check=True)
    build(world, the_task(task_folder), None)
    assert world.run_program("git", "log", "--format=%s").stdout.splitlines() == ["test: add the repro", "the library"]
    assert is_solved_by_the_right_fix_alone(world, the_task(task_folder))


def test_a_script_makes_it_from_the_clone_that_host_names(world: ClientWorld, task_folder: Path, host: Path) -> None:
    (task_folder.parents[1] / "build.py").write_text(BUILD, encoding="utf-8")
    build(world, the_task(task_folder), host)
    assert is_solved_by_the_right_fix_alone(world, the_task(task_folder))


def test_without_one_it_is_named(world: ClientWorld, task_folder: Path) -> None:
    with pytest.raises(
        RuntimeError, match=r"own-limiter: neither repository\.bundle nor .*build\.py makes its reposit"
    ):
        build(world, the_task(task_folder), None)


@pytest.mark.parametrize(("window", "given"), [(None, None), (60_000, "60000")])
def test_the_window_reaches_the_client_that_then_compacts_by_itself(
    world: ClientWorld, window: int | None, given: str | None
) -> None:
    world.window = window
    assert world.variables().get("CLAUDE_CODE_AUTO_COMPACT_WINDOW") == given

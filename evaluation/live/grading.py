"""Repositories of tasks, and the tests that decide: the agent's patch is applied to a pristine copy.

A task is solved if its visible tests, the repository's own and the hidden ones pass. Hidden tests enter the copy alone.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from evaluation.live.client_world import ClientWorld
from evaluation.tasks import Task

_AUTHOR = ("-c", "user.name=evaluation", "-c", "user.email=evaluation@example.org")
_LEFT_OUT = (":!tests", ":!.claude", ":!CLAUDE.md")
_SECONDS = 600
_TOLD = 4_000  # characters of failing tests that the agent is shown


@dataclass(frozen=True)
class Grade:
    """What the tests say of a patch."""

    solved: bool
    broken: tuple[str, ...]
    failures: str
    patch: str


def build(world: ClientWorld, task: Task, host: Path | None) -> None:
    """Make the repository of a task in the world's project, and a pristine copy. Raise RuntimeError if that fails."""
    bundle, files, script = task.folder / "repository.bundle", task.folder / "repository", _script(task)
    if files.is_dir():
        shutil.copytree(files, world.project, dirs_exist_ok=True)
    elif bundle.exists():
        _must(world, world.project, "git", "fetch", "--quiet", str(bundle), "HEAD")
        _must(world, world.project, "git", "checkout", "--quiet", "-B", "main", "FETCH_HEAD")
    elif script.exists():
        variables = [f"SDEBENCH_BOLTONS_HOST={host}"] if host else []
        _must(world, world.folder, "env", *variables, sys.executable, str(script), str(world.project))
    else:
        message = f"{task.name}: neither {bundle.name} nor {script} makes its repository"
        raise RuntimeError(message)
    tests = world.project / "tests"
    tests.mkdir(exist_ok=True)
    shutil.copy(task.folder / str(task.details["regression_test_file"]), tests / "test_regression.py")
    _must(world, world.project, "git", "add", "--all")
    _must(world, world.project, "git", *_AUTHOR, "commit", "--quiet", "--allow-empty", "-m", "test: add the repro")
    shutil.copytree(world.project, world.folder / "pristine", symlinks=True)


def grade(world: ClientWorld, task: Task) -> Grade:
    """Grade what the project holds now."""
    _must(world, world.project, "git", "add", "--all")
    patch = _must(world, world.project, "git", "diff", "--cached", "--binary", _base(world), "--", ".", *_LEFT_OUT)
    _must(world, world.project, "git", "reset", "--quiet")
    copy = world.folder / "graded"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(world.folder / "pristine", copy, symlinks=True)
    if patch.strip():
        (world.folder / "patch.diff").write_text(patch, encoding="utf-8")
        _must(world, copy, "git", "apply", "--whitespace=nowarn", str(world.folder / "patch.diff"))
    shutil.copy(task.folder / str(task.details["hidden_test_file"]), copy / "tests" / "test_hidden.py")
    wanted = [str(name) for kind in ("fail_to_pass", "pass_to_pass", "hidden_to_pass") for name in task.details[kind]]
    failures = [failure for name in wanted if (failure := _failure(world, copy, name))]
    broken = [name for name in map(str, task.details.get("rule_tests", [])) if _breaks(world, task, copy, name)]
    return Grade(not failures, tuple(broken), "\n".join(failures)[-_TOLD:], patch)


def _breaks(world: ClientWorld, task: Task, copy: Path, name: str) -> bool:
    shutil.copy(task.folder / name, copy / "tests" / name)
    return bool(_failure(world, copy, f"tests/{name}"))


def _failure(world: ClientWorld, copy: Path, name: str) -> str:
    """What pytest prints of failing tests; "" if they pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=short", name]
    done = world.run_at(copy, command, _SECONDS)
    return "" if done.returncode == 0 else f"{name}\n{done.stdout}{done.stderr}"


def _base(world: ClientWorld) -> str:
    """The commit that the agent started from, whatever it has committed since."""
    return _must(world, world.folder / "pristine", "git", "rev-parse", "HEAD").strip()


def _script(task: Task) -> Path:
    name = str(task.details.get("build", "build.py"))
    return task.folder.parents[1] / name if task.folder.name == "main" else task.folder / name


def _must(world: ClientWorld, folder: Path, *command: str) -> str:
    done = world.run_at(folder, command, _SECONDS)
    if done.returncode:
        message = f"{' '.join(command[:4])} failed: {(done.stderr or done.stdout).strip()[-500:]}"
        raise RuntimeError(message)
    return done.stdout

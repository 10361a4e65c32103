from __future__ import annotations

import errno
import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tests.processes import run_at_once, start
from unified_state.errors import StorageError
from unified_state.lib.files import file_lock as lock
from unified_state.lib.files.file_lock import FileLock

HOLD = """
import time
# go
from unified_state.lib.files.file_lock import FileLock
with FileLock(sys.argv[1], 5):
    print("held", flush=True)
    time.sleep(60)
"""
COUNT = """
# go
import os
from unified_state.lib.files.file_lock import FileLock
for _ in range(20):
    with FileLock(sys.argv[1] + ".lock", 60):
        with open(sys.argv[1]) as file:
            number = int(file.read())
        with open(sys.argv[1], "w") as file:
            file.write(str(number + 1))
"""


@pytest.fixture(params=[True, False], ids=["flock", "filelock"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the platform's own call, and as where there is none."""
    monkeypatch.setattr(lock, "_HAS_FLOCK", request.param)


@pytest.mark.usefixtures("implementation")
def test_a_lock_that_is_held_is_not_given_again(tmp_path: Path) -> None:
    path = str(tmp_path / "file.lock")
    message = f"{path} stayed locked by another process for 0.02 seconds; try again"
    with FileLock(path, 5), pytest.raises(StorageError, match=message), FileLock(path, 0.02):
        pytest.fail("it was given twice")


@pytest.mark.usefixtures("implementation")
def test_a_lock_is_free_after_it_was_held(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "file.lock")
    for _ in range(2):
        with FileLock(path, 0):
            assert os.path.exists(path)


@pytest.mark.usefixtures("implementation")
def test_a_lock_is_free_after_an_error(tmp_path: Path) -> None:
    path = str(tmp_path / "file.lock")
    with pytest.raises(ZeroDivisionError), FileLock(path, 0):
        1 / 0  # noqa: B018  # any error
    with FileLock(path, 0):
        pass


def test_both_ways_of_locking_know_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "file.lock")
    with FileLock(path, 0):
        monkeypatch.setattr(lock, "_HAS_FLOCK", False)
        with pytest.raises(StorageError, match="stayed locked"), FileLock(path, 0.02):
            pytest.fail("it was given twice")


def test_the_kernel_frees_the_lock_of_a_process_that_is_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "file.lock")
    holder = start(HOLD, path)
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdin.write("go\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(StorageError), FileLock(path, 0):
        pytest.fail("it was given twice")
    holder.kill()
    holder.communicate()
    with FileLock(path, 0):
        pass


def test_no_two_processes_hold_it_at_once(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    run_at_once(COUNT, [[str(counter)]] * 4)
    assert counter.read_text() == "80"


@pytest.mark.usefixtures("implementation")
def test_a_lock_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file.lock").mkdir()
    with (
        pytest.raises(StorageError, match=r"file\.lock cannot be locked: Is a directory"),
        FileLock(str(tmp_path / "file.lock"), 0),
    ):
        pytest.fail("a folder was locked")


def test_a_file_system_that_knows_no_locks_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(lock, "flock", refuse)
    with (
        pytest.raises(StorageError, match="whether its file system knows locks"),
        FileLock(str(tmp_path / "a.lock"), 0),
    ):
        pytest.fail("it was locked")


def test_a_platform_without_flock_uses_filelock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    spec = importlib.util.spec_from_file_location("fresh_lock", lock.__file__)
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    assert fresh._HAS_FLOCK is False

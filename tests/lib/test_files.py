from __future__ import annotations

import errno
import importlib.util
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import ROOT, run_at_once, start
from unified_state.errors import StorageError
from unified_state.lib import files as lock
from unified_state.lib.files import (
    FileLock,
    create_once,
    write_atomically,
    write_note,
)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(str(path), b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", 0o600)


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(str(path), b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", 0o640)


def test_a_file_that_others_may_write_stays_so_whatever_the_umask_is(tmp_path: Path) -> None:
    path, umask = tmp_path / "file", os.umask(0o077)
    try:
        path.write_bytes(b"old")
        path.chmod(0o664)
        write_atomically(str(path), b"new")
    finally:
        os.umask(umask)
    assert mode_of(path) == 0o664


def test_a_last_look_that_says_no_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    assert not write_atomically(str(path), b"new", last_look=lambda: False)
    assert write_atomically(str(tmp_path / "other"), b"new", last_look=lambda: True)
    assert (path.read_bytes(), sorted(one.name for one in tmp_path.iterdir())) == (b"old", ["file", "other"])


def test_a_link_is_replaced_and_never_followed(tmp_path: Path) -> None:
    """A stranger's repository may hold a link where our file belongs."""
    target = tmp_path / "precious"
    target.write_bytes(b"old")
    (tmp_path / "file").symlink_to(target)
    write_atomically(str(tmp_path / "file"), b"new")
    assert target.read_bytes() == b"old"
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_folder_in_the_way_is_an_error_that_names_it_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(StorageError, match=f"{tmp_path}/file cannot be written: .+; free some space"):
        write_atomically(str(tmp_path / "file"), b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from unified_state.errors import StorageError
from unified_state.lib import files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    getattr(files, sys.argv[3])(sys.argv[2], b"x" * 5000)
except StorageError as error:
    print(error)
"""


@pytest.mark.parametrize("function", [write_atomically, write_note])
def test_where_there_is_no_room_the_old_file_stays(tmp_path: Path, function: Callable[..., None]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", FULL_DISK, str(ROOT), str(path), function.__name__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (
        done.stdout
        == f"{path} cannot be written: File too large; free some space or check the permissions of the folder\n"
    )
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_sees_the_old_or_the_new_and_never_half(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([letter]) * 100_000 for letter in b"ab"]
    write_atomically(str(path), contents[0])
    seen: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(30):
        write_atomically(str(path), contents[number % 2])
    done.set()
    reader.join()
    assert seen <= set(contents)


def test_who_has_the_old_file_open_reads_it_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"the old one")
    with path.open("rb") as held:
        write_atomically(str(path), b"another")
        assert held.read() == b"the old one"


def test_a_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    waited: list[tuple[bool, bytes]] = []
    fsync = os.fsync

    def note_and_wait(descriptor: int) -> None:
        waited.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), path.read_bytes()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note_and_wait)
    write_atomically(str(path), b"new")
    assert waited == [(False, b"old"), (True, b"new")][: 2 if hasattr(os, "O_DIRECTORY") else 1]


def test_a_note_is_private_and_replaces_the_one_before(tmp_path: Path) -> None:
    for content in (b"old", b"new"):
        write_note(str(tmp_path / "note"), content)
    assert ((tmp_path / "note").read_bytes(), mode_of(tmp_path / "note")) == (b"new", 0o600)


def test_a_file_is_created_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert create_once(str(path), b"first")
    assert not create_once(str(path), b"second")
    assert (path.read_bytes(), mode_of(path)) == (b"first", 0o600)


CREATE = """
# go
from unified_state.lib.files import create_once
print(create_once(sys.argv[1], sys.argv[2].encode()))
"""


def test_of_eight_processes_exactly_one_creates_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    printed = run_at_once(CREATE, [[str(path), str(number) * 1000] for number in range(8)])
    assert sorted(printed) == ["False\n"] * 7 + ["True\n"]
    assert path.read_text() == str(printed.index("True\n")) * 1000


def without_hard_links(_source: object, _target: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("present", [True, False])
def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: bool
) -> None:
    monkeypatch.setattr(os, "link", without_hard_links)
    path = tmp_path / "file"
    if present:
        path.write_bytes(b"first")
    assert create_once(str(path), b"second") is not present
    assert path.read_bytes() == (b"first" if present else b"second")
    assert os.listdir(tmp_path) == ["file"]


HOLD = """
import time
# go
from unified_state.lib.files import FileLock
with FileLock(sys.argv[1], 5):
    print("held", flush=True)
    time.sleep(60)
"""
COUNT = """
# go
import os
from unified_state.lib.files import FileLock
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
    monkeypatch.setattr(FileLock, "uses_filelock", not request.param)


@pytest.mark.usefixtures("implementation")
def test_a_lock_that_is_held_is_not_given_again(tmp_path: Path) -> None:
    path = str(tmp_path / "file.lock")
    message = f"{path} stayed locked by another process for 0.02 seconds; try again"
    with FileLock(path, 5), pytest.raises(StorageError, match=message), FileLock(path, 0.02):
        pytest.fail("it was given twice")


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
        monkeypatch.setattr(FileLock, "uses_filelock", True)
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
    monkeypatch.setattr(FileLock, "uses_filelock", False)
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
    assert fresh.FileLock.uses_filelock is True

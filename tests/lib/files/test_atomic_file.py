from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import ROOT, run_at_once
from unified_state.errors import StorageError
from unified_state.lib.files.atomic_file import (
    create_once,
    publish_once,
    temporary_name,
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


def test_a_file_is_given_the_permissions_that_are_asked_for(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "file"), b"new", 0o644)
    assert mode_of(tmp_path / "file") == 0o644


def test_missing_folders_are_made(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "a" / "b" / "file"), b"new")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"new"


def test_a_file_in_the_current_folder_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically("file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_link_is_replaced_and_never_followed(tmp_path: Path) -> None:
    """A stranger's repository may hold a link where our file belongs."""
    target = tmp_path / "precious"
    target.write_bytes(b"old")
    (tmp_path / "file").symlink_to(target)
    write_atomically(str(tmp_path / "file"), b"new")
    assert target.read_bytes() == b"old"
    assert (tmp_path / "file").read_bytes() == b"new"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "file"), b"new")
    write_note(str(tmp_path / "note"), b"new")
    create_once(str(tmp_path / "once"), b"new")
    create_once(str(tmp_path / "once"), b"again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "note", "once"]


def test_a_folder_in_the_way_is_an_error_that_names_it_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(StorageError, match=f"{tmp_path}/file cannot be written: .+; free some space"):
        write_atomically(str(tmp_path / "file"), b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be written: File exists"):
        write_atomically(str(tmp_path / "file" / "below"), b"new")


FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from unified_state.errors import StorageError
from unified_state.lib.files import atomic_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    getattr(atomic_file, sys.argv[3])(sys.argv[2], b"x" * 5000)
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


def test_a_platform_where_folders_cannot_be_opened_does_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_DIRECTORY")
    write_atomically(str(tmp_path / "file"), b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


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
from unified_state.lib.files.atomic_file import create_once
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
    path, temporary = tmp_path / "file", tmp_path / "temporary"
    if present:
        path.write_bytes(b"first")
    temporary.write_bytes(b"second")
    assert publish_once(str(temporary), str(path)) is not present
    assert path.read_bytes() == (b"first" if present else b"second")
    assert not temporary.exists()


def test_temporary_names_differ_and_lie_beside_the_file() -> None:
    names = {temporary_name("/somewhere/file") for _ in range(100)}
    assert len(names) == 100
    assert {os.path.dirname(name) for name in names} == {"/somewhere"}

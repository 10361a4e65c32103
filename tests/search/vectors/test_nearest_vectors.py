from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.acceptance.namespaces import mounted
from tests.builders import NOW, uuid_of
from tests.processes import ROOT, run_at_once, start
from tests.search.vectors.vector_archives import DIMENSIONS, Matrix, exact, fill, make_vectors
from unified_state.errors import UsageError
from unified_state.lib.package import extra_line
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.derived_file import (
    SCAN,
    derived_folder,
    derived_path,
    remove_stale,
)
from unified_state.memory.archive.text_columns import forget_step
from unified_state.memory.archive.vector_table import model_number, read_model
from unified_state.memory.history.archive_store import SqliteStore
from unified_state.model.history_records import STEP, Tombstone
from unified_state.search.vectors.nearest_vectors import nearest, refresh

COUNT = 6_000  # more than the scan looks at in its first round
VECTORS = make_vectors(COUNT)
QUERIES = make_vectors(20, seed=2)
MODEL = 1  # the number of the only one


def steps(archive: Archive, query: Matrix, limit: int = 10) -> list[int]:
    return [step for step, _ in nearest(archive, MODEL, query, limit)]


def recall(archive: Archive, vectors: Matrix = VECTORS) -> float:
    """Which part of the ten nearest to each query is found."""
    found = [set(steps(archive, query)) & set(exact(vectors, query)) for query in QUERIES]
    return sum(map(len, found)) / (10 * len(QUERIES))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Folders of archives with the vectors, by whether their file was made."""
    folders = {is_made: tmp_path_factory.mktemp("filled") / "data" for is_made in (False, True)}
    with Archive(str(folders[False] / "archive.db")) as archive:
        fill(archive, VECTORS)
    shutil.copytree(folders[False], folders[True])
    with Archive(str(folders[True] / "archive.db")) as archive:
        assert refresh(archive, MODEL)
    return folders


@pytest.fixture
def archive(archive_path: str, filled: dict[bool, Path]) -> Iterator[Archive]:
    """An archive with the vectors, and without their file."""
    yield from opened(filled[False], archive_path)


@pytest.fixture
def made(archive_path: str, filled: dict[bool, Path]) -> Iterator[Archive]:
    """An archive with the vectors and their file."""
    yield from opened(filled[True], archive_path)


def opened(folder: Path, path: str) -> Iterator[Archive]:
    shutil.copytree(folder, os.path.dirname(path), dirs_exist_ok=True)
    with Archive(path) as archive:
        yield archive


def test_without_any_file_the_nearest_are_exact_and_nothing_is_written(archive: Archive) -> None:
    assert recall(archive) == 1
    assert not os.path.exists(derived_folder(archive))


def test_nearly_all_of_the_nearest_are_found_with_files(made: Archive) -> None:
    assert os.path.exists(derived_path(made, read_model(made, MODEL)))
    assert recall(made) >= 0.98


def test_what_was_added_since_is_found_exactly_and_is_in_the_files_the_next_time(made: Archive) -> None:
    more = make_vectors(700, seed=3)
    fill(made, more, COUNT + 1)
    assert steps(made, more[5], 1) == [COUNT + 6]
    assert refresh(made, MODEL)
    assert steps(made, more[5], 1) == [COUNT + 6]
    assert recall(made, np.concatenate([VECTORS, more])) >= 0.98


@pytest.fixture
def empty(archive_path: str) -> Iterator[Archive]:
    """A new archive."""
    with Archive(archive_path) as archive:
        yield archive


def test_an_archive_without_vectors_has_no_nearest(empty: Archive) -> None:
    model_number(empty, "tiny", "1", DIMENSIONS)
    assert refresh(empty, MODEL)
    assert steps(empty, QUERIES[0]) == []


def test_the_files_are_private(archive: Archive) -> None:
    mask = os.umask(0)
    try:
        refresh(archive, MODEL)
    finally:
        os.umask(mask)
    folder = Path(derived_folder(archive))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ([0.0] * DIMENSIONS, "length 0"),
        ([math.nan] * DIMENSIONS, "length nan"),
        ([math.inf] * DIMENSIONS, "length inf"),
        ([1.0] * (DIMENSIONS - 1), "shape"),
        ([[1.0] * DIMENSIONS], "shape"),
        ([], "shape"),
    ],
    ids=["zero", "nan", "infinite", "short", "nested", "empty"],
)
def test_a_query_that_is_no_vector_of_the_model_is_refused(archive: Archive, query: list[float], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        nearest(archive, MODEL, query, 10)


# What happens to a file that can be made again.

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _content: b"",
    "half": lambda content: content[: len(content) // 2],
    "a bit of its end": lambda content: content[:-1_000] + bytes([content[-1_000] ^ 4]) + content[-999:],
    "other": lambda content: bytes(np.random.default_rng(5).bytes(len(content))),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_costs_no_answer_and_is_made_anew(made: Archive, damage: Callable[[bytes], bytes]) -> None:
    path = Path(derived_path(made, read_model(made, MODEL)))
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert recall(made) >= 0.98
    assert refresh(made, MODEL)
    assert path.stat().st_size == len(whole)
    assert recall(made) >= 0.98


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_no_byte_that_the_disk_has_changed_in_what_a_file_says_of_itself_misleads(empty: Archive, mask: int) -> None:
    fill(empty, VECTORS[:300])
    assert refresh(empty, MODEL)
    fill(empty, VECTORS[300:320], 301)  # what is behind the file's last one is compared too
    path = Path(derived_path(empty, read_model(empty, MODEL)))
    whole = path.read_bytes()
    for place in range(len(whole) - 128, len(whole)):
        content = bytearray(whole)
        content[place] ^= mask
        path.unlink()  # so that it is another file
        path.write_bytes(content)
        assert steps(empty, QUERIES[0], 5) == exact(VECTORS[:320], QUERIES[0], 5), f"{len(whole) - place} from the end"


def test_what_was_made_before_the_archive_came_back_from_a_backup_hides_nothing(archive_path: str) -> None:
    with Archive(archive_path) as archive:
        fill(archive, VECTORS[:300])
        archive.connection.backup(sqlite3.connect(f"{archive_path}.backup"))
        fill(archive, VECTORS[300:5_000], 301)
        assert refresh(archive, MODEL)
    os.replace(f"{archive_path}.backup", archive_path)
    others = make_vectors(5_000, seed=4)
    now = np.concatenate([VECTORS[:300], others])
    with Archive(archive_path) as archive:
        assert steps(archive, QUERIES[0]) == exact(VECTORS[:300], QUERIES[0])
        fill(archive, others, 301)
        assert recall(archive, now) == 1
        assert refresh(archive, MODEL)
        assert recall(archive, now) >= 0.98


def test_a_file_of_another_archive_is_not_used(archive: Archive, tmp_path: Path) -> None:
    with Archive(str(tmp_path / "other" / "archive.db")) as other:
        fill(other, make_vectors(COUNT, seed=9))
        refresh(other, MODEL)
        os.makedirs(derived_folder(archive))
        known = read_model(other, MODEL)
        os.rename(derived_path(other, known), derived_path(archive, known))
    assert recall(archive) == 1


# Forgetting.


def test_a_forgotten_step_never_comes_though_its_vector_is_still_in_a_file(made: Archive) -> None:
    (first, *_) = steps(made, QUERIES[0])
    forget_step(made, first)
    assert first not in steps(made, QUERIES[0], 50)


def test_forgetting_removes_what_was_made_of_the_vector_and_the_next_files_are_without_it(made: Archive) -> None:
    (folder := Path(derived_folder(made))).joinpath("1.bits1.99.tmp").write_bytes(b"half of it")
    forget_step(made, 1)
    remove_stale(made)
    assert [path.name for path in folder.iterdir()] == ["lock"]
    assert refresh(made, MODEL)
    assert steps(made, VECTORS[0], COUNT) != []
    assert 1 not in steps(made, VECTORS[0], COUNT)


def test_what_another_store_tells_to_forget_is_left_in_no_file(made: Archive) -> None:
    SqliteStore(made.path, archive=made).append([Tombstone(STEP, f"{uuid_of(1)}/0", NOW)])
    assert [path.name for path in Path(derived_folder(made)).iterdir()] == ["lock"]


def test_a_file_of_a_run_that_was_killed_just_before_it_got_its_name_does_not_stay(archive: Archive) -> None:
    refresh(archive, MODEL)
    whole = Path(derived_path(archive, read_model(archive, MODEL)))
    shutil.copy(whole, f"{whole}.99.0123abcd.tmp")
    refresh(archive, MODEL)
    assert sorted(path.name for path in Path(derived_folder(archive)).iterdir()) == ["1.bits1", "lock"]


def test_a_step_forgotten_while_the_file_is_made_is_not_left_in_it(archive: Archive) -> None:
    def forget_meanwhile(statement: str) -> None:
        if statement.startswith("SELECT id, step, embedding FROM vector WHERE id > 0"):
            with Archive(archive.path) as other:
                forget_step(other, 1)
                remove_stale(other)

    archive.connection.set_trace_callback(forget_meanwhile)
    assert not refresh(archive, MODEL)
    archive.connection.set_trace_callback(None)
    assert [path.name for path in Path(derived_folder(archive)).iterdir()] == ["lock"]
    assert refresh(archive, MODEL)
    assert 1 not in steps(archive, VECTORS[0], 50)


# Several processes, and those that are killed.

REFRESH = """
import sys
# go
from unified_state.memory.archive.archive import Archive
from unified_state.search.vectors.nearest_vectors import refresh
with Archive(sys.argv[1]) as archive:
    print(refresh(archive, 1))
"""


def test_of_four_processes_one_makes_the_files_and_they_are_whole(archive: Archive) -> None:
    assert "True\n" in run_at_once(REFRESH, [[archive.path]] * 4)
    assert {path.suffix for path in Path(derived_folder(archive)).iterdir()} == {"", f".{SCAN}"}
    assert refresh(archive, MODEL)
    assert recall(archive) >= 0.98


@pytest.mark.parametrize("milliseconds", [0, 400])
def test_a_process_that_is_killed_while_it_makes_the_files_leaves_nothing_that_misleads(
    archive: Archive, milliseconds: int
) -> None:
    process = start(REFRESH, archive.path)
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    time.sleep(milliseconds / 1000)
    process.kill()
    process.communicate()
    assert recall(archive) >= 0.98
    assert refresh(archive, MODEL)
    assert {path.suffix for path in Path(derived_folder(archive)).iterdir()} == {"", f".{SCAN}"}


# A disk that does not help.


ON_A_DISK = """
import json, os, sys
root, path, query = sys.argv[1:]
sys.path.insert(0, root)
from unified_state.errors import StorageError
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.derived_file import derived_folder
from unified_state.search.vectors.nearest_vectors import nearest, refresh
with Archive(path) as archive:
    told = ""
    try:
        refresh(archive, 1)
    except StorageError as error:
        told = str(error)
    print(json.dumps([told, sorted(os.listdir(derived_folder(archive))), nearest(archive, 1, json.loads(query), 3)]))
"""


@pytest.mark.parametrize(
    ("options", "told", "left"),
    [
        ("size=40k", "cannot be written: No space left on device; free some space", ["lock"]),
        ("ro", "cannot be locked: Read-only file system", []),
    ],
    ids=["full", "read-only"],
)
def test_a_disk_that_takes_no_file_is_told_of_nothing_is_left_and_all_is_found(
    archive: Archive, options: str, told: str, left: list[str]
) -> None:
    folder = derived_folder(archive)
    given = [str(ROOT), archive.path, str(QUERIES[0].tolist())]
    with mounted(f"mkdir {folder}; mount -t tmpfs -o {options},mode=700 tmpfs {folder}") as prefix:
        command = [*prefix, sys.executable, "-c", ON_A_DISK, *given]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    message, names, found = json.loads(done.stdout)
    assert told in message
    assert names == left
    assert [step for step, _ in found] == exact(VECTORS, QUERIES[0], 3)


# What must be installed.

WITHOUT = """
import sys
sys.modules["numpy"] = None
sys.path.insert(0, sys.argv[1])
from unified_state.errors import MissingExtraError
try:
    import unified_state.search.vectors.nearest_vectors
except MissingExtraError as error:
    print(error)
"""


def test_where_numpy_is_missing_it_is_said_with_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(ROOT)], capture_output=True, text=True, check=True)
    assert "numpy" in done.stdout
    assert done.stdout.endswith(f"{extra_line('vectors')}\n")

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.processes import ROOT, run_at_once, start
from tests.storage.vector_archives import DIMENSIONS, Matrix, exact, fill, make_vectors
from unified_state.errors import StorageError, UsageError
from unified_state.storage.archive import Archive
from unified_state.storage.derived_file import GRAPH, SCAN, derived_folder, derived_lock, derived_path, remove_stale
from unified_state.storage.step_writing import forget_step
from unified_state.storage.vector_index import nearest, refresh
from unified_state.storage.vectors import model_number, read_model

COUNT = 6_000  # more than the scan looks at in its first round
VECTORS = make_vectors(COUNT)
QUERIES = make_vectors(20, seed=2)
NO_GRAPH, A_GRAPH = COUNT * 2, 1  # from how many vectors on there is one
TIERS = pytest.mark.parametrize("graph_from", [NO_GRAPH, A_GRAPH], ids=["scan", "graph"])


def always() -> bool:
    return True


def steps(archive: Archive, model: int, query: Matrix, limit: int = 10) -> list[int]:
    return [step for step, _ in nearest(archive, model, query, limit)]


def recall(archive: Archive, model: int, vectors: Matrix = VECTORS) -> float:
    """Which part of the ten nearest to each query is found."""
    found = [set(steps(archive, model, query)) & set(exact(vectors, query)) for query in QUERIES]
    return sum(map(len, found)) / (10 * len(QUERIES))


@pytest.fixture
def model(archive: Archive) -> int:
    return fill(archive, VECTORS)


def test_without_any_file_the_nearest_are_exact_and_nothing_is_written(archive: Archive, model: int) -> None:
    assert recall(archive, model) == 1
    assert not os.path.exists(derived_folder(archive))


@TIERS
def test_nearly_all_of_the_nearest_are_found_with_files(archive: Archive, model: int, graph_from: int) -> None:
    assert refresh(archive, model, always, graph_from=graph_from)
    assert os.path.exists(derived_path(archive, read_model(archive, model), GRAPH)) == (graph_from == A_GRAPH)
    assert recall(archive, model) >= 0.98


@TIERS
def test_the_nearest_come_with_their_exact_cosines_in_order(archive: Archive, model: int, graph_from: int) -> None:
    refresh(archive, model, always, graph_from=graph_from)
    found = nearest(archive, model, QUERIES[0], 50)
    cosines = [cosine for _, cosine in found]
    assert len(found) == 50
    assert cosines == sorted(cosines, reverse=True)
    assert cosines == pytest.approx([float(VECTORS[step - 1] @ QUERIES[0]) for step, _ in found], abs=1e-4)


@TIERS
def test_what_was_added_since_is_found_exactly_and_is_in_the_files_the_next_time(
    archive: Archive, model: int, graph_from: int
) -> None:
    refresh(archive, model, always, graph_from=graph_from)
    more = make_vectors(700, seed=3)
    fill(archive, more, COUNT + 1)
    assert steps(archive, model, more[5], 1) == [COUNT + 6]
    assert refresh(archive, model, always, graph_from=graph_from)
    assert steps(archive, model, more[5], 1) == [COUNT + 6]
    assert recall(archive, model, np.concatenate([VECTORS, more])) >= 0.98


def test_a_graph_that_was_cut_short_is_gone_on_with_and_all_is_found_meanwhile(archive: Archive, model: int) -> None:
    path = derived_path(archive, read_model(archive, model), GRAPH)
    sizes = []
    while not refresh(archive, model, lambda: False, graph_from=A_GRAPH):
        sizes.append(os.path.getsize(path))
        assert recall(archive, model) >= 0.98
    assert sizes == sorted(set(sizes))
    assert len(sizes) == 2  # 2,000 vectors at a time, at least
    assert recall(archive, model) >= 0.98


def test_a_refresh_with_nothing_new_writes_nothing(archive: Archive, model: int) -> None:
    refresh(archive, model, always, graph_from=A_GRAPH)
    paths = [derived_path(archive, read_model(archive, model), kind) for kind in (SCAN, GRAPH)]
    before = [os.stat(path).st_ino for path in paths]
    assert refresh(archive, model, always, graph_from=A_GRAPH)
    assert [os.stat(path).st_ino for path in paths] == before


def test_an_archive_without_vectors_has_no_nearest(archive: Archive) -> None:
    model = model_number(archive, "tiny", "1", DIMENSIONS)
    assert refresh(archive, model, always, graph_from=0)
    assert nearest(archive, model, QUERIES[0], 10) == []


def test_more_than_there_are_gives_all(archive: Archive) -> None:
    model = fill(archive, VECTORS[:5])
    refresh(archive, model, always, graph_from=A_GRAPH)
    assert sorted(steps(archive, model, QUERIES[0], 100)) == [1, 2, 3, 4, 5]
    assert steps(archive, model, QUERIES[0], 0) == []


def test_the_files_are_private(archive: Archive, model: int) -> None:
    os.umask(0)
    refresh(archive, model, always, graph_from=A_GRAPH)
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
def test_a_query_that_is_no_vector_of_the_model_is_refused(
    archive: Archive, model: int, query: list[float], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        nearest(archive, model, query, 10)


def test_a_query_needs_no_unit_length(archive: Archive, model: int) -> None:
    assert steps(archive, model, 1_000 * QUERIES[0]) == steps(archive, model, QUERIES[0])


# What happens to a file that can be made again.

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _content: b"",
    "one byte": lambda _content: b"x",
    "half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-1],
    "longer": lambda content: content + b"x",
    "a bit of its end": lambda content: content[:-1_000] + bytes([content[-1_000] ^ 4]) + content[-999:],
    "zeros": lambda content: bytes(len(content)),
    "other": lambda content: bytes(np.random.default_rng(5).bytes(len(content))),
}


@TIERS
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_costs_no_answer_and_is_made_anew(
    archive: Archive, model: int, graph_from: int, damage: Callable[[bytes], bytes]
) -> None:
    refresh(archive, model, always, graph_from=graph_from)
    path = Path(derived_path(archive, read_model(archive, model), GRAPH if graph_from == A_GRAPH else SCAN))
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert recall(archive, model) >= 0.98
    assert refresh(archive, model, always, graph_from=graph_from)
    assert path.stat().st_size == len(whole)
    assert recall(archive, model) >= 0.98


@pytest.mark.parametrize("place", range(0, 100, 7))
def test_a_byte_of_the_graph_that_the_disk_has_changed_never_leads_anywhere(
    archive: Archive, model: int, place: int
) -> None:
    refresh(archive, model, always, graph_from=A_GRAPH)
    path = Path(derived_path(archive, read_model(archive, model), GRAPH))
    content = bytearray(path.read_bytes())
    content[len(content) * place // 100] ^= 0xFF
    path.write_bytes(content)
    assert recall(archive, model) >= 0.9  # a changed vector misleads the search at most


def test_a_file_of_another_archive_is_not_used(archive: Archive, model: int, tmp_path: Path) -> None:
    with Archive(str(tmp_path / "other" / "archive.db")) as other:
        fill(other, make_vectors(COUNT, seed=9))
        refresh(other, model, always)
        os.makedirs(derived_folder(archive))
        known = read_model(other, model)
        os.rename(derived_path(other, known, SCAN), derived_path(archive, known, SCAN))
    assert recall(archive, model) == 1


def test_a_file_of_another_form_is_not_used(archive: Archive, model: int) -> None:
    refresh(archive, model, always, graph_from=A_GRAPH)
    known = read_model(archive, model)
    os.rename(derived_path(archive, known, SCAN), derived_path(archive, known, GRAPH))
    assert recall(archive, model) == 1


# Forgetting.


@TIERS
def test_a_forgotten_step_never_comes_though_its_vector_is_still_in_a_file(
    archive: Archive, model: int, graph_from: int
) -> None:
    refresh(archive, model, always, graph_from=graph_from)
    (first, *_) = steps(archive, model, QUERIES[0])
    forget_step(archive.execute, first)
    assert first not in steps(archive, model, QUERIES[0], 50)


@TIERS
def test_forgetting_removes_what_was_made_of_the_vector_and_the_next_files_are_without_it(
    archive: Archive, model: int, graph_from: int
) -> None:
    refresh(archive, model, always, graph_from=graph_from)
    (folder := Path(derived_folder(archive))).joinpath("1.bits1.99.tmp").write_bytes(b"half of it")
    forget_step(archive.execute, 1)
    remove_stale(archive)
    assert [path.name for path in folder.iterdir()] == ["lock"]
    assert refresh(archive, model, always, graph_from=graph_from)
    assert steps(archive, model, VECTORS[0], COUNT) != []
    assert 1 not in steps(archive, model, VECTORS[0], COUNT)


def test_forgetting_a_step_without_a_vector_leaves_the_files(archive: Archive, model: int) -> None:
    refresh(archive, model, always)
    archive.run("INSERT INTO step (id, turn, uuid, block, kind, at, body) VALUES (9999, 1, 'u', 0, 1, 0, 'text')")
    archive.run("INSERT INTO step_text (rowid, text) VALUES (9999, 'text')")
    forget_step(archive.execute, 9999)
    remove_stale(archive)
    assert os.path.exists(derived_path(archive, read_model(archive, model), SCAN))


def test_what_is_forgotten_while_files_are_made_is_not_left_in_them(archive: Archive, model: int) -> None:
    def forgets() -> bool:
        forget_step(archive.execute, 1)
        remove_stale(archive)
        return True

    assert not refresh(archive, model, forgets, graph_from=A_GRAPH)
    assert [path.name for path in Path(derived_folder(archive)).iterdir()] == ["lock"]
    assert refresh(archive, model, always, graph_from=A_GRAPH)
    assert 1 not in steps(archive, model, VECTORS[0], 50)


# Several processes, and those that are killed.

REFRESH = """
import sys
# go
sys.path.insert(0, sys.argv[1])
from unified_state.storage.archive import Archive
from unified_state.storage.vector_index import refresh
with Archive(sys.argv[1]) as archive:
    print(refresh(archive, 1, lambda: True, graph_from=1))
"""


def test_of_four_processes_one_makes_the_files_and_they_are_whole(archive: Archive, model: int) -> None:
    assert "True\n" in run_at_once(REFRESH, [[archive.path]] * 4)
    assert {path.suffix for path in Path(derived_folder(archive)).iterdir()} == {"", f".{SCAN}", f".{GRAPH}"}
    assert refresh(archive, model, always, graph_from=A_GRAPH)
    assert recall(archive, model) >= 0.98


def test_while_another_process_makes_the_files_nobody_waits_and_all_is_found(archive: Archive, model: int) -> None:
    with derived_lock(archive):
        assert not refresh(archive, model, always, graph_from=A_GRAPH)
        assert recall(archive, model) == 1


@pytest.mark.parametrize("milliseconds", [0, 200, 400, 800, 1600])
def test_a_process_that_is_killed_while_it_makes_the_files_leaves_nothing_that_misleads(
    archive: Archive, model: int, milliseconds: int
) -> None:
    process = start(REFRESH, archive.path)
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    time.sleep(milliseconds / 1000)
    process.kill()
    process.communicate()
    assert recall(archive, model) >= 0.98
    assert refresh(archive, model, always, graph_from=A_GRAPH)
    assert {path.suffix for path in Path(derived_folder(archive)).iterdir()} == {"", f".{SCAN}", f".{GRAPH}"}


# A disk that does not help.


def test_where_the_folder_cannot_be_made_it_is_said_and_all_is_found(archive: Archive, model: int) -> None:
    Path(derived_folder(archive)).write_text("in the way")
    with pytest.raises(StorageError, match="cannot be made"):
        refresh(archive, model, always)
    assert recall(archive, model) == 1


@pytest.mark.parametrize("graph_from", [NO_GRAPH, A_GRAPH], ids=["scan", "graph"])
def test_on_a_full_disk_it_is_said_nothing_is_left_and_all_is_found(
    archive: Archive, model: int, graph_from: int
) -> None:
    kilobytes = 40 if graph_from == NO_GRAPH else 1_000
    code = f"""
import os, subprocess, sys
sys.path.insert(0, {str(ROOT)!r})
from unified_state.errors import StorageError
from unified_state.storage.archive import Archive
from unified_state.storage.derived_file import derived_folder
from unified_state.storage.vector_index import nearest, refresh
with Archive({archive.path!r}) as archive:
    folder = derived_folder(archive)
    os.mkdir(folder, 0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size={kilobytes}k,mode=700", "tmpfs", folder], check=True)
    try:
        refresh(archive, 1, lambda: True, graph_from={graph_from})
    except StorageError as error:
        print(error)
    print(sorted(os.listdir(folder)))
    print(nearest(archive, 1, {QUERIES[0].tolist()}, 3))
"""
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    told, left, found = done.stdout.splitlines() or pytest.fail(done.stderr)
    assert "cannot be written" in told
    assert "free some space" in told
    assert left == ("['lock']" if graph_from == NO_GRAPH else "['1.bits1', 'lock']")
    assert [step for step, _ in eval(found)] == exact(VECTORS, QUERIES[0], 3)


# What must be installed.

WITHOUT = """
import sys
sys.modules[sys.argv[2]] = None
sys.path.insert(0, sys.argv[1])
from unified_state.errors import MissingExtraError
try:
    import unified_state.storage.vector_index
    import unified_state.storage.vector_graph
except MissingExtraError as error:
    print(error)
"""


@pytest.mark.parametrize("package", ["numpy", "usearch"])
def test_where_a_package_is_missing_it_is_said_with_what_to_install(package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(ROOT), package], capture_output=True, text=True, check=True
    )
    assert package in done.stdout
    assert done.stdout.endswith("pip install 'unified-state[vectors]'\n")


@pytest.mark.parametrize("module", ["vector_graph", "vector_index"])
def test_what_makes_vectors_can_be_loaded_behind_what_searches_them(module: str) -> None:
    code = f"import unified_state.storage.{module}, onnxruntime; print('fine')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "fine\n", done.stderr

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from benchmarks.minilm_folder import minilm_folder
from tests.builders import prompt
from tests.forgetting import forget_text
from unified_state.archive.archive import Archive
from unified_state.archive.steps import find_step
from unified_state.archive.text_columns import forget_step, replace_text
from unified_state.errors import StorageError
from unified_state.extras.vectors.embed_steps import EmbeddingResult, embed, remove_vectors, vector_lock
from unified_state.extras.vectors.vector_table import add_vectors, model_number, read_vectors
from unified_state.lib.files import FileLock
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.search_archive import search
from unified_state.setting_table import MINILM_NAME
from unified_state.upkeep.doctor.project_status import VectorCount, vector_counts

Keep = Callable[..., None]
ANOTHER = "another model"
OLD = b"\x00\x3c" + b"\x00" * 766  # the first of 384 directions


def quietly(_total: int) -> Callable[[int], None]:
    return lambda _count: None


@pytest.fixture(autouse=True)
def has_minilm(workspace: Workspace) -> None:
    workspace.settings.minilm_folder = minilm_folder()


@pytest.fixture
def make_vectors(workspace: Workspace) -> Callable[..., EmbeddingResult]:
    return partial(embed, workspace)


def test_what_is_new_since_the_last_run_gets_one_and_nothing_twice(
    archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(prompt(1, "fix it"))
    make_vectors(None, quietly)
    before = read_vectors(archive, 1, [1])
    keep(prompt(2, "and test it"))
    assert make_vectors(None, quietly).added == 1
    assert read_vectors(archive, 1, [1]) == before
    assert make_vectors(None, quietly).added == 0


def test_a_limit_takes_the_newest_first(
    archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(*(prompt(number, f"fix the {number}. bug") for number in range(1, 101)))
    totals: list[int] = []
    batches: list[int] = []

    def begin(total: int) -> Callable[[int], None]:
        totals.append(total)
        return batches.append

    assert make_vectors(70, begin).added == 70
    assert (totals, batches) == ([70], [64, 6])
    assert sorted(read_vectors(archive, 1, range(1, 101))) == list(range(31, 101))


def test_a_step_that_holds_nothing_to_read_is_counted_and_does_not_stop_the_others(
    keep: Keep, workspace: Workspace
) -> None:
    keep(
        prompt(1, "fix the parser"), *(prompt(number, "x" * 500) for number in range(2, 90)), prompt(90, "and test it")
    )
    done = embed(workspace, None, quietly)
    assert (done.added, done.unreadable, done.vectors, done.steps) == (2, 88, 2, 90)


@pytest.mark.parametrize(
    "text",
    ["", "1 " * 50_000, "\ud83d half", "你好世界", "\x00\x01\udcff", "NaN", "data:image/png;base64,aaaa"],
    ids=ascii,
)
def test_hostile_texts_do_no_harm(archive: Archive, keep: Keep, workspace: Workspace, text: str) -> None:
    keep(prompt(1, "where is the parser?"), prompt(2, text), prompt(3, "in src"))
    assert embed(workspace, None, quietly).added >= 2
    assert search(archive, "parser", 5)[0].ref == "S1"


def test_a_batch_is_committed_by_itself(
    archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(*(prompt(number, f"fix the {number}. bug") for number in range(1, 71)))

    def stop(_count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_vectors(None, lambda _total: stop)
    assert vector_counts(archive)[0].steps == 64
    assert make_vectors(None, quietly).added == 6


def test_of_two_runs_one_is_refused(
    keep: Keep, workspace: Workspace, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(prompt(1, "fix it"))
    held = FileLock(str(Path(workspace.place.folder) / "embed.lock"), 0)
    with held, pytest.raises(StorageError, match="another process is making vectors for this repository; "):
        make_vectors(None, quietly)
    assert make_vectors(None, quietly).added == 1


def old_vector(archive: Archive) -> None:
    add_vectors(archive, model_number(archive, MINILM_NAME, "an old one", 384), [(1, OLD)])


def test_vectors_of_another_version_stay_until_all_steps_have_new_ones(
    archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(prompt(1, "fix it"), prompt(2, "and test it"))
    old_vector(archive)
    version = make_vectors(1, quietly).version
    assert vector_counts(archive) == (VectorCount(MINILM_NAME, "an old one", 1), VectorCount(MINILM_NAME, version, 1))
    make_vectors(None, quietly)
    assert vector_counts(archive) == (VectorCount(MINILM_NAME, version, 2),)


@pytest.mark.parametrize("change", ["forgotten", "masked"])
def test_a_text_that_goes_while_the_vectors_are_made_leaves_none(
    archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult], change: str
) -> None:
    keep(*(prompt(number, f"the {number}. secret word is xyzzy") for number in range(1, 71)))

    def after_a_batch(_count: int) -> None:
        step = find_step(archive, 1)
        if change == "forgotten":
            forget_step(archive, 1)
        elif step is not None and "xyzzy" in step.text:
            replace_text(archive, 1, step, "***")

    make_vectors(None, lambda _total: after_a_batch)
    after_a_batch(0)
    assert read_vectors(archive, 1, [1]) == {} if change == "forgotten" else len(read_vectors(archive, 1, [1])) == 1


def test_forgetting_takes_the_vectors_along(
    archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(prompt(1, "the secret word is xyzzy"), prompt(2, "fix it"))
    make_vectors(None, quietly)
    forget_text(archive, "xyzzy", 1)
    assert sorted(read_vectors(archive, 1, [1, 2])) == [2]


def test_the_vectors_of_a_model_go_and_can_be_made_again(
    workspace: Workspace, archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(*(prompt(number, f"fix the {number}. bug") for number in range(1, 4)))
    assert make_vectors(None, quietly).vectors == 3
    done = remove_vectors(workspace)
    assert (done.model, done.removed) == (MINILM_NAME, 3)
    assert vector_counts(archive) == ()
    assert remove_vectors(workspace).removed == 0
    assert make_vectors(None, quietly).vectors == 3


def test_the_vectors_of_another_model_stay(workspace: Workspace, archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "fix it"))
    add_vectors(archive, model_number(archive, ANOTHER, "1", 2), [(1, b"\x00\x3c" + bytes(2))])
    assert remove_vectors(workspace).removed == 0
    assert [count.model for count in vector_counts(archive)] == [ANOTHER]


def test_who_makes_vectors_is_not_disturbed(
    workspace: Workspace, archive: Archive, keep: Keep, make_vectors: Callable[..., EmbeddingResult]
) -> None:
    keep(prompt(1, "fix it"))
    make_vectors(None, quietly)
    with vector_lock(workspace), pytest.raises(StorageError, match="another process is making vectors"):
        remove_vectors(workspace)
    assert vector_counts(archive) != ()


def test_removing_needs_no_package_of_a_model() -> None:
    look = "import sys, unified_state.extras.vectors.embed_steps; "
    look += "print({'numpy', 'tokenizers'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

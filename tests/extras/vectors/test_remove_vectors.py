from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from benchmarks.minilm_folder import minilm_folder
from tests.builders import prompt
from unified_state.archive.archive import Archive
from unified_state.archive.vector_table import add_vectors, model_number, vector_counts
from unified_state.errors import StorageError
from unified_state.extras.vectors.embed_steps import embed, remove_vectors, vector_lock
from unified_state.project.workspace.workspace import Workspace
from unified_state.setting_table import MINILM_NAME

Keep = Callable[..., None]
OTHER = "another model"


@pytest.fixture(autouse=True)
def has_minilm(workspace: Workspace) -> None:
    workspace.settings.minilm_folder = minilm_folder()


def make_vectors(workspace: Workspace) -> int:
    return embed(workspace, None, lambda _total: lambda _count: None).vectors


def test_the_vectors_of_a_model_go_and_can_be_made_again(workspace: Workspace, archive: Archive, keep: Keep) -> None:
    keep(*(prompt(number, f"fix the {number}. bug") for number in range(1, 4)))
    assert make_vectors(workspace) == 3
    done = remove_vectors(workspace)
    assert (done.model, done.removed) == (MINILM_NAME, 3)
    assert vector_counts(archive) == ()
    assert remove_vectors(workspace).removed == 0
    assert make_vectors(workspace) == 3


def test_the_vectors_of_another_model_stay(workspace: Workspace, archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "fix it"))
    add_vectors(archive, model_number(archive, OTHER, "1", 2), [(1, b"\x00\x3c" + bytes(2))])
    assert remove_vectors(workspace).removed == 0
    assert [count.model for count in vector_counts(archive)] == [OTHER]


def test_who_makes_vectors_is_not_disturbed(workspace: Workspace, archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "fix it"))
    make_vectors(workspace)
    with vector_lock(workspace), pytest.raises(StorageError, match="another process is making vectors"):
        remove_vectors(workspace)
    assert vector_counts(archive) != ()


def test_removing_needs_no_package_of_a_model() -> None:
    look = "import sys, unified_state.extras.vectors.embed_steps; "
    look += "print({'numpy', 'tokenizers'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

"""The nearest of vectors that are made by chance, in clusters as those of texts are, beside a comparison of all."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.builders import uuid_of
from tests.processes import ROOT
from unified_state.archive.archive import Archive
from unified_state.archive.steps import uuid_key
from unified_state.archive.text_columns import forget_step
from unified_state.extras.vectors import query_meaning
from unified_state.extras.vectors.query_meaning import nearest
from unified_state.extras.vectors.vector_table import add_vectors, model_number
from unified_state.lib.package import extra_line

DIMENSIONS = 72  # no multiple of a machine word's bits
CLUSTERS = 40

Matrix = NDArray[np.float32]


def make_vectors(count: int, seed: int = 1) -> Matrix:
    """So many vectors of unit length, as float16 holds them."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((CLUSTERS, DIMENSIONS))
    found = centres[chance.integers(CLUSTERS, size=count)] + 0.7 * chance.standard_normal((count, DIMENSIONS))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float16).astype(np.float32)


def fill(archive: Archive, vectors: Matrix) -> None:
    """Add steps with those vectors."""
    model = model_number(archive, "by chance", "1", DIMENSIONS)
    with archive.transaction(durable=False):
        archive.run("INSERT OR IGNORE INTO session (id, session_id) VALUES (1, 's')")
        archive.run("INSERT OR IGNORE INTO turn VALUES (1, 1, NULL, 0)")
        for number in range(1, len(vectors) + 1):
            archive.run(
                "INSERT INTO step (id, turn, uuid, block, kind, at, body) VALUES (?, 1, ?, 0, 1, 0, 'text')",
                number,
                uuid_key(uuid_of(number)),
            )
            archive.run("INSERT INTO step_words (rowid, text) VALUES (?, 'text')", number)
        add_vectors(archive, model, ((place, row.astype("<f2").tobytes()) for place, row in enumerate(vectors, 1)))


def exact(vectors: Matrix, query: Matrix, limit: int = 10) -> list[int]:
    """The steps of the nearest vectors, where the first has the first vector."""
    return [int(place) + 1 for place in np.argsort(-(vectors @ query), kind="stable")[:limit]]


COUNT = 300
VECTORS = make_vectors(COUNT)
QUERIES = make_vectors(20, seed=2)
MODEL = 1  # the number of the only one


def steps(archive: Archive, query: Matrix, limit: int = 10) -> list[int]:
    return [step for step, _ in nearest(archive, MODEL, query, limit)]


@pytest.fixture
def filled(archive: Archive) -> Archive:
    """An archive with the vectors."""
    fill(archive, VECTORS)
    return archive


def test_the_nearest_come_with_their_exact_cosines_in_order(filled: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_meaning, "_PAGE", 70)  # vectors
    assert [steps(filled, query) for query in QUERIES] == [exact(VECTORS, query) for query in QUERIES]
    found = nearest(filled, MODEL, QUERIES[0], 50)
    cosines = [cosine for _, cosine in found]
    assert len(found) == 50
    assert cosines == sorted(cosines, reverse=True)
    assert cosines == pytest.approx([float(VECTORS[step - 1] @ QUERIES[0]) for step, _ in found], abs=1e-4)


def test_a_forgotten_step_never_comes(filled: Archive) -> None:
    (first, *_) = steps(filled, QUERIES[0])
    forget_step(filled, first)
    assert first not in steps(filled, QUERIES[0], COUNT)


# What must be installed.

WITHOUT = """
import sys
sys.modules["numpy"] = None
sys.path.insert(0, sys.argv[1])
from unified_state.errors import MissingExtraError
try:
    import unified_state.extras.vectors.query_meaning
except MissingExtraError as error:
    print(error)
"""


def test_where_numpy_is_missing_it_is_said_with_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(ROOT)], capture_output=True, text=True, check=True)
    assert "numpy" in done.stdout
    assert done.stdout.endswith(f"{extra_line('vectors')}\n")

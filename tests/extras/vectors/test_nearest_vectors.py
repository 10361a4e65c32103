from __future__ import annotations

import subprocess
import sys

import pytest

from tests.extras.vectors.vector_archives import Matrix, exact, fill, make_vectors
from tests.processes import ROOT
from unified_state.archive.archive import Archive
from unified_state.archive.text_columns import forget_step
from unified_state.extras.vectors import query_meaning
from unified_state.extras.vectors.query_meaning import nearest
from unified_state.lib.package import extra_line

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

"""Archives with vectors that are made by chance, in clusters as those of texts are; what they are nearest to is known
by comparing all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.builders import uuid_of
from unified_state.archive.archive import Archive
from unified_state.archive.steps import uuid_key
from unified_state.archive.vector_table import add_vectors, model_number

DIMENSIONS = 72  # no multiple of a machine word's bits
_CLUSTERS = 40

Matrix = NDArray[np.float32]


def make_vectors(count: int, seed: int = 1) -> Matrix:
    """So many vectors of unit length, as float16 holds them."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((_CLUSTERS, DIMENSIONS))
    found = centres[chance.integers(_CLUSTERS, size=count)] + 0.7 * chance.standard_normal((count, DIMENSIONS))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found.astype(np.float16).astype(np.float32)


def fill(archive: Archive, vectors: Matrix, first: int = 1) -> int:
    """Add steps with those vectors; the number of their model."""
    model = model_number(archive, "by chance", "1", DIMENSIONS)
    with archive.transaction(durable=False):
        archive.run("INSERT OR IGNORE INTO session (id, session_id) VALUES (1, 's')")
        archive.run("INSERT OR IGNORE INTO turn VALUES (1, 1, NULL, 0)")
        for number in range(first, first + len(vectors)):
            archive.run(
                "INSERT INTO step (id, turn, uuid, block, kind, at, body) VALUES (?, 1, ?, 0, 1, 0, 'text')",
                number,
                uuid_key(uuid_of(number)),
            )
            archive.run("INSERT INTO step_words (rowid, text) VALUES (?, 'text')", number)
        add_vectors(archive, model, ((first + place, row.astype("<f2").tobytes()) for place, row in enumerate(vectors)))
    return model


def exact(vectors: Matrix, query: Matrix, limit: int = 10) -> list[int]:
    """The steps of the nearest vectors, where the first has the first vector."""
    return [int(place) + 1 for place in np.argsort(-(vectors @ query), kind="stable")[:limit]]

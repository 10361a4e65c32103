"""Find the steps nearest to a query's vector: every vector of the model is compared with it, page by page.

100,000 vectors take a quarter of a second, half as long as the model takes to load. A search writes nothing, so a
forgotten vector is nowhere but in the archive.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import chain

from unified_state.archive.archive import Archive
from unified_state.archive.vector_table import vectors_after
from unified_state.errors import MissingExtraError, UsageError
from unified_state.lib.package import extra_line

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    problem = f"a search by meaning needs numpy, which cannot be loaded: {error}"
    raise MissingExtraError(problem, extra_line("vectors")) from error


Numbers = NDArray[np.float32]

_PAGE = 10_000  # vectors read and compared at once


def nearest(archive: Archive, model: int, query: Sequence[float] | Numbers, limit: int) -> list[tuple[int, float]]:
    """Return the steps nearest to a vector with their cosines, the nearest first.

    Raises UsageError for a vector that does not belong to the model.
    """
    wanted = unit(query, archive.value("SELECT dimensions FROM vector_model WHERE id = ?", model) or 0)
    best: list[tuple[float, int]] = []
    last = 0
    while limit > 0 and (rows := vectors_after(archive, model, last, _PAGE)):
        best = _best(wanted, limit, rows, best)
        last = rows[-1][0]
    return [(step, cosine) for cosine, step in best]


def matrix(embeddings: Sequence[bytes], dimensions: int) -> Numbers:
    """Return stored vectors as a matrix, one a row."""
    return np.frombuffer(b"".join(embeddings), "<f2").reshape(-1, dimensions).astype(np.float32)


def unit(vector: Sequence[float] | Numbers, dimensions: int) -> Numbers:
    """Return a query's vector at unit length. Raises UsageError for one without a direction, or of another model."""
    numbers = np.asarray(vector, np.float32)
    if numbers.shape != (dimensions,):
        message = f"the query's vector has the shape {numbers.shape}, not {(dimensions,)}"
        raise UsageError(message, "make it with the model of the vectors that it is compared with")
    length = float(np.linalg.norm(numbers))
    if not 0 < length < float("inf"):  # NaN fails both comparisons
        message = f"the query's vector has the length {length:g}"
        raise UsageError(message, "a text without any meaning has no nearest ones")
    return numbers / length


def _best(
    query: Numbers, limit: int, rows: Sequence[tuple[int, int, bytes]], before: list[tuple[float, int]]
) -> list[tuple[float, int]]:
    """Return the best of some vectors and of the best ones before, as cosines and steps."""
    cosines = _products(matrix([embedding for _, _, embedding in rows], len(query)), query).tolist()
    steps = (step for _, step, _ in rows)
    return heapq.nlargest(limit, chain(zip(cosines, steps, strict=True), before))


def _products(vectors: Numbers, query: Numbers) -> Numbers:
    """Multiply each vector with a query's, on one thread, unlike numpy's `@`, because an agent uses the other cores."""
    found: Numbers = np.einsum("ij,j->i", vectors, query)
    return found

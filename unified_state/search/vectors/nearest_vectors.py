"""The nearest steps to a query's vector: what derived files propose, judged by the vectors themselves.

A derived file only ever proposes. Every answer is a row of the archive, with the cosine of its own vector, and what no
file has yet is compared one by one: so a file that is missing, damaged or old costs time, never a step, and nothing
that was forgotten comes back. A search writes nothing; `refresh` does, wherever vectors were added.
"""

from __future__ import annotations

import heapq
import os
from itertools import chain

from unified_state.errors import MissingExtraError, StorageError
from unified_state.memory.archive.vectors.derived_file import GRAPH, derived_lock, derived_path, remove_stale
from unified_state.memory.archive.vectors.vector_table import VectorModel, read_model, vectors_after, vectors_at
from unified_state.search.vectors.vector_arrays import Numbers, matrix, products, unit
from unified_state.search.vectors.vector_scan import extend_scan, open_scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.search.vectors.vector_graph import Graph

# Vectors. A graph answers in 7 ms, after 50 ms for loading what reads it and minutes for making it. To compare the bits
# of all takes 10 ms for 100,000, 24 ms for a million, and needs nothing.
GRAPH_FROM = 500_000
_PAGE = 10_000  # vectors that are compared at once


def nearest(archive: Archive, model: int, query: Sequence[float] | Numbers, limit: int) -> list[tuple[int, float]]:
    """The steps nearest to a vector and their cosines, the nearest first."""
    known = read_model(archive, model)
    wanted = unit(query, known.dimensions)
    if limit < 1:
        return []
    proposed, last = _proposed(archive, known, wanted, limit)
    best = _best(wanted, limit, vectors_at(archive, model, proposed), [])
    while rows := vectors_after(archive, model, last, _PAGE):
        best = _best(wanted, limit, rows, best)
        last = rows[-1][0]
    return [(step, cosine) for cosine, step in best]


def refresh(archive: Archive, model: int, has_time: Callable[[], bool], *, graph_from: int = GRAPH_FROM) -> bool:
    """Bring the derived files up to the archive, as far as there is time; whether they are. Of several processes one
    does it, and the others go on without. From so many vectors on there is a graph.
    """
    known = read_model(archive, model)
    try:
        with derived_lock(archive):
            done = _refresh(archive, known, has_time, graph_from)
    except StorageError as error:
        if isinstance(error.__cause__, TimeoutError):
            return False
        raise
    if read_model(archive, model) != known:  # something was forgotten meanwhile
        remove_stale(archive)
        return False
    return done


def _refresh(archive: Archive, model: VectorModel, has_time: Callable[[], bool], graph_from: int) -> bool:
    remove_stale(archive)
    scan = extend_scan(archive, model)
    if scan.count < graph_from:
        return True
    from unified_state.search.vectors.vector_graph import extend_graph  # loads usearch

    last = extend_graph(archive, model, has_time)
    while last < scan.last.number and has_time() and read_model(archive, model.number) == model:
        last = extend_graph(archive, model, has_time)
    return last >= scan.last.number


def _proposed(archive: Archive, model: VectorModel, query: Numbers, limit: int) -> tuple[list[int], int]:
    """The numbers of vectors among which the nearest are, and up to which one that is so."""
    scan, graph = open_scan(archive, model), _graph(archive, model)
    if graph is None:
        return scan.nearest(query, limit), scan.last.number
    last = graph.last.number
    return [*graph.nearest(query, limit), *scan.nearest(query, limit, last)], max(last, scan.last.number)


def _graph(archive: Archive, model: VectorModel) -> Graph | None:
    """The graph, where there is one. Where what reads it is not installed the bits of all give the same answer,
    later.
    """
    if not os.path.exists(derived_path(archive, model, GRAPH)):
        return None
    try:
        from unified_state.search.vectors.vector_graph import open_graph  # loads usearch
    except MissingExtraError:
        return None
    return open_graph(archive, model)


def _best(
    query: Numbers, limit: int, rows: Sequence[tuple[int, int, bytes]], before: list[tuple[float, int]]
) -> list[tuple[float, int]]:
    """The best of some vectors and of what was best before: cosines and steps."""
    cosines = products(matrix([embedding for _, _, embedding in rows], len(query)), query).tolist()
    steps = (step for _, step, _ in rows)
    return heapq.nlargest(limit, chain(zip(cosines, steps, strict=True), before))

"""Nearest vectors by a graph of neighbours (HNSW), for archives in which comparing all bits takes longer.

The file is what usearch writes, and is mapped, not loaded. A graph that a damaged disk has changed could lead usearch
anywhere in memory, so it is checked when it is opened; the vectors before it are not: they mislead only the search.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from functools import lru_cache

import numpy as np

from unified_state.errors import MissingExtraError
from unified_state.lib.record import Record
from unified_state.memory.archive.vectors.derived_file import GRAPH, Made, derived_path, open_derived, publish
from unified_state.memory.archive.vectors.vector_table import Last, VectorModel, last_vector, vectors_after
from unified_state.search.vectors.vector_arrays import Numbers, identity

if sys.platform == "linux":
    # usearch holds a C++ library inside, which onnxruntime, loaded later, would take for its own, and crash. Not where
    # the system's is there first, for all.
    with suppress(OSError):  # onnxruntime needs it: where it is not, neither is onnxruntime
        ctypes.CDLL("libstdc++.so.6", ctypes.RTLD_GLOBAL)
try:
    from usearch.index import Index
except ImportError as error:
    problem = f"the graph of a large archive's vectors needs usearch, which cannot be loaded: {error}"
    raise MissingExtraError(problem, "pip install 'unified-state[vectors]'") from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap
    from typing import Any

    from unified_state.memory.archive.archive import Archive

# usearch's connectivity, expansion_add and expansion_search. Of 610,000 vectors of real texts 512 looked at gave .983
# of the ten nearest, 1,024 gave .990.
_NEIGHBOURS, _LOOKED_AT_TO_ADD, _LOOKED_AT = 24, 128, 1_024
_PROPOSED = 50  # at least: the graph's order is that of float16 sums
_BATCH = 2_000  # vectors between two looks at the clock
_PART = 50_000  # vectors that are lost at most where a process is killed: half a minute of work
_HEADER, _NUMBER, _WORD = 8, 2, 8  # bytes before the vectors, of each of their numbers, and of what is checked at once


class Graph(Record):
    """The graph of the vectors up to `last`."""

    index: Index
    last: Last
    mapped: mmap  # what the index reads lives as long

    def nearest(self, query: Numbers, limit: int) -> list[int]:
        """The numbers of about the nearest vectors."""
        matches = self.index.search(query.astype(np.float16), max(_PROPOSED, 2 * limit), threads=1)
        found: list[int] = matches.keys.tolist()
        return found


def open_graph(archive: Archive, model: VectorModel) -> Graph | None:
    """The graph as its file has it; None where there is none of this archive."""
    path = derived_path(archive, model, GRAPH)
    which = identity(path)
    found = _opened(path, which, model) if which else None
    return found if found and found.last == last_vector(archive, model.number, found.last.number) else None


def extend_graph(archive: Archive, model: VectorModel, has_time: Callable[[], bool]) -> int:
    """Add some vectors to the graph, fewer where there is no time; the number of the last one that its file has now."""
    path = derived_path(archive, model, GRAPH)
    known = open_graph(archive, model)
    if known is not None and not vectors_after(archive, model.number, known.last.number, 1):
        return known.last.number
    found = _read(path, model, Index.load) if known is not None else None
    index, begin = (_new_index(model), 0) if found is None else (found.index, found.last.number)
    last, most = begin, len(index) + _PART
    while rows := vectors_after(archive, model.number, last, _BATCH):
        last = rows[-1][0]
        vectors = np.frombuffer(b"".join(embedding for _, _, embedding in rows), "<f2")
        index.add(np.array([number for number, _, _ in rows], np.uint64), vectors.reshape(len(rows), -1), threads=1)
        if len(index) >= most or not has_time():
            break
    checked_from = (_HEADER + len(index) * model.dimensions * _NUMBER) // _WORD * _WORD
    made = Made(
        GRAPH, model.stamp, model.dimensions, len(index), last_vector(archive, model.number, last), checked_from
    )
    return last if publish(path, made, lambda temporary: _save(index, temporary)) else begin


@lru_cache(maxsize=4)
def _opened(path: str, _identity: tuple[int, ...], model: VectorModel) -> Graph | None:
    return _read(path, model, Index.view)


def _read(path: str, model: VectorModel, read: Callable[[Index, Any], None]) -> Graph | None:
    """The graph of a file; None where there is none that this usearch can read."""
    found = open_derived(path, GRAPH, model)
    if found is None:
        return None
    made, mapped = found
    index = _new_index(model)
    try:
        read(index, mapped)
    except (RuntimeError, ValueError):  # of another version
        return None
    return Graph(index, made.last, mapped) if len(index) == made.count else None


def _save(index: Index, path: str) -> None:
    try:
        index.save(path)
    except RuntimeError as error:  # it tells no errno
        raise OSError(str(error)) from error


def _new_index(model: VectorModel) -> Index:
    return Index(
        ndim=model.dimensions,
        metric="ip",  # of unit vectors: the cosine
        dtype="f16",
        connectivity=_NEIGHBOURS,
        expansion_add=_LOOKED_AT_TO_ADD,
        expansion_search=_LOOKED_AT,
        enable_key_lookups=False,
    )

"""Find the steps nearest to a query's vector. A file of sign bits proposes candidates, and their exact vectors decide.

Every answer is a row of the archive, with the cosine of its own vector. Vectors newer than the file are compared one by
one. So a missing, damaged or stale file costs time, never a step, and never restores a forgotten one. A search writes
nothing. `refresh` writes the file after vectors were added.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from unified_state.errors import MissingExtraError, StorageError, UsageError
from unified_state.lib.package import extra_line
from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.derived_file import (
    Made,
    derived_lock,
    derived_path,
    identity,
    open_derived,
    publish,
    remove_stale,
)
from unified_state.memory.archive.vector_table import (
    Last,
    VectorModel,
    last_vector,
    read_model,
    vectors_after,
    vectors_at,
)

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    problem = f"a search by meaning needs numpy, which cannot be loaded: {error}"
    raise MissingExtraError(problem, extra_line("vectors")) from error


Numbers = NDArray[np.float32]

_WORD = 64
_PAGE = 10_000  # vectors read and compared at once
_BLOCK = 1 << 15  # sign words compared at once: their counts stay in the processor's cache
# Vectors that pass each round: a minimum, and a number for each one wanted. Of 100,000 passages of real sessions 99 %
# and more of the ten nearest pass both.
_FIRST_ROUND, _SECOND_ROUND = (3_200, 32), (400, 8)


def nearest(archive: Archive, model: int, query: Sequence[float] | Numbers, limit: int) -> list[tuple[int, float]]:
    """Return the steps nearest to a vector with their cosines, the nearest first.

    Raises UsageError for a vector that does not belong to the model.
    """
    known = read_model(archive, model)
    wanted = unit(query, known.dimensions)
    if limit < 1:
        return []
    scan = _open_scan(archive, known)
    best = _best(wanted, limit, vectors_at(archive, model, scan.nearest(wanted, limit)), [])
    last = scan.last.number
    while rows := vectors_after(archive, model, last, _PAGE):
        best = _best(wanted, limit, rows, best)
        last = rows[-1][0]
    return [(step, cosine) for cosine, step in best]


def refresh(archive: Archive, model: int) -> bool:
    """Update the file of sign bits to the last vector of the model. Return whether it is up to date.

    One of several processes writes the file, and the others continue without it. Raises StorageError if the file cannot
    be written.
    """
    known = read_model(archive, model)
    try:
        with derived_lock(archive):
            remove_stale(archive)
            _extend_scan(archive, known)
    except StorageError as error:
        if isinstance(error.__cause__, TimeoutError):
            return False
        raise
    if read_model(archive, model) == known:
        return True
    remove_stale(archive)  # a vector was forgotten since
    return False


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


class _Scan(Record):
    """The sign bits of all vectors up to `last`, by word: `words[w][n]` is word w of vector n."""

    last: Last
    ids: NDArray[np.int64]
    words: NDArray[np.uint64]

    def nearest(self, query: Numbers, limit: int) -> list[int]:
        """Return the numbers of the vectors that are nearest by their bits, and of some more.

        The first round counts the bits that differ from the query's. The second sums the query's own numbers under the
        signs of the best.
        """
        first = _smallest(_differing(self.words, _bits(query[None, :])[:, 0]), _through(_FIRST_ROUND, limit))
        signs = np.unpackbits(np.ascontiguousarray(self.words[:, first].T).view(np.uint8), axis=1, count=len(query))
        second = _smallest(-_products(signs.astype(np.float32), query), _through(_SECOND_ROUND, limit))
        found: list[int] = self.ids[first[second]].tolist()
        return found


def _open_scan(archive: Archive, model: VectorModel) -> _Scan:
    """Return the scan of the model's file, or an empty one if there is no usable file of this archive."""
    path = derived_path(archive, model)
    found = _read_scan(path, identity(path), model)
    if found and found.last == last_vector(archive, model.number, found.last.number):
        return found
    return _Scan(Last(0, 0), np.empty(0, np.int64), np.empty((_width(model.dimensions), 0), np.uint64))


@lru_cache(maxsize=4)
def _read_scan(path: str, _identity: tuple[int, ...], model: VectorModel) -> _Scan | None:
    found = open_derived(path, model)
    if found is None:
        return None
    made, mapped = found
    width = _width(model.dimensions)
    ids = np.frombuffer(mapped, "<i8", made.count)
    words = np.frombuffer(mapped, "<u8", made.count * width, made.count * ids.itemsize)
    return _Scan(made.last, ids, words.reshape(width, made.count))


def _extend_scan(archive: Archive, model: VectorModel) -> None:
    scan = _open_scan(archive, model)
    all_ids, all_words, last = [scan.ids], [scan.words], scan.last.number
    while rows := vectors_after(archive, model.number, last, _PAGE):
        last = rows[-1][0]
        all_ids.append(np.array([number for number, _, _ in rows], np.int64))
        all_words.append(_bits(matrix([embedding for _, _, embedding in rows], model.dimensions)))
    if last == scan.last.number:
        return
    ids, words = np.concatenate(all_ids), np.concatenate(all_words, axis=1)

    def write(path: str) -> None:
        with open(path, "wb") as file:
            file.write(ids.astype("<i8").tobytes())
            file.write(words.astype("<u8").tobytes())

    made = Made(model.stamp, model.dimensions, len(ids), last_vector(archive, model.number, last))
    publish(derived_path(archive, model), made, write)


def _width(dimensions: int) -> int:
    return -(-dimensions // _WORD)


def _bits(vectors: Numbers) -> NDArray[np.uint64]:
    """Return the signs of vectors, by word."""
    padded = np.zeros((len(vectors), _width(vectors.shape[1]) * _WORD), np.bool_)
    padded[:, : vectors.shape[1]] = vectors > 0
    return np.ascontiguousarray(np.packbits(padded, axis=1).view("<u8").T)


def _differing(words: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Count the bits of each vector that differ from the query's."""
    counts = np.empty(words.shape[1], np.uint16)
    for begin in range(0, len(counts), _BLOCK):
        block = words[:, begin : begin + _BLOCK] ^ query[:, None]
        counts[begin : begin + _BLOCK] = np.bitwise_count(block).sum(axis=0, dtype=np.uint16)
    return counts


def _through(round_: tuple[int, int], limit: int) -> int:
    least, each = round_
    return max(least, each * limit)


def _smallest(values: NDArray[np.uint16] | Numbers, count: int) -> NDArray[np.intp]:
    """Return the positions of the smallest values, in no order."""
    return np.arange(len(values)) if count >= len(values) else np.argpartition(values, count)[:count]

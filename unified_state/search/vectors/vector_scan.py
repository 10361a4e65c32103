"""Nearest vectors by one bit a dimension: the sign. All of them are compared, in a file of a few dozen bytes a vector.

The bits propose in two rounds: by how many differ from the query's, then, of the best of those, by the query's own
numbers under the signs. Who is right is told by the vectors themselves (`vector_index`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from unified_state.lib.record import Record
from unified_state.memory.archive.vectors.derived_file import SCAN, Made, derived_path, open_derived, publish
from unified_state.memory.archive.vectors.vector_table import Last, VectorModel, last_vector, vectors_after
from unified_state.search.vectors.vector_arrays import Numbers, identity, matrix, products

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unified_state.memory.archive.archive import Archive

_WORD = 64
_PAGE = 10_000  # vectors that are read at once
_BLOCK = 1 << 15  # vectors that are compared at once: what is counted of them stays in the processor's cache
# How many go through each round: at least, and for each that is wanted. Of 100,000 passages of real sessions 99 % and
# more of the ten nearest come through both.
_FIRST_ROUND, _SECOND_ROUND = (3_200, 32), (400, 8)


class Scan(Record):
    """The bits of all vectors up to `last`, by word: `words[w][n]` is word w of vector n."""

    last: Last
    ids: NDArray[np.int64]
    words: NDArray[np.uint64]

    @property
    def count(self) -> int:
        """How many vectors it has."""
        return len(self.ids)

    def nearest(self, query: Numbers, limit: int, after: int = 0) -> list[int]:
        """The numbers of the vectors behind a number that are nearest by their bits, and of some more."""
        begin = int(np.searchsorted(self.ids, after, "right"))
        words, ids = self.words[:, begin:], self.ids[begin:]
        first = _smallest(_differing(words, _bits(query[None, :])[:, 0]), _through(_FIRST_ROUND, limit))
        signs = np.unpackbits(np.ascontiguousarray(words[:, first].T).view(np.uint8), axis=1, count=len(query))
        second = _smallest(-products(signs.astype(np.float32), query), _through(_SECOND_ROUND, limit))
        found: list[int] = ids[first[second]].tolist()
        return found


def open_scan(archive: Archive, model: VectorModel) -> Scan:
    """The scan as its file has it; an empty one where there is none of this archive."""
    path = derived_path(archive, model, SCAN)
    which = identity(path)
    found = _opened(path, which, model) if which else None
    return found if found and found.last == last_vector(archive, model.number, found.last.number) else _empty(model)


def extend_scan(archive: Archive, model: VectorModel) -> Scan:
    """Bring the file up to the last vector of the model."""
    scan = open_scan(archive, model)
    all_ids, all_words, last = [scan.ids], [scan.words], scan.last.number
    while rows := vectors_after(archive, model.number, last, _PAGE):
        last = rows[-1][0]
        all_ids.append(np.array([number for number, _, _ in rows], np.int64))
        all_words.append(_bits(matrix([embedding for _, _, embedding in rows], model.dimensions)))
    if last == scan.last.number:
        return scan
    extended = Scan(
        last_vector(archive, model.number, last), np.concatenate(all_ids), np.concatenate(all_words, axis=1)
    )

    def write(path: str) -> None:
        with open(path, "wb") as file:
            file.write(extended.ids.astype("<i8").tobytes())
            file.write(extended.words.astype("<u8").tobytes())

    made = Made(SCAN, model.stamp, model.dimensions, extended.count, extended.last)
    publish(derived_path(archive, model, SCAN), made, write)
    return extended


@lru_cache(maxsize=4)
def _opened(path: str, _identity: tuple[int, ...], model: VectorModel) -> Scan | None:
    found = open_derived(path, SCAN, model)
    if found is None:
        return None
    made, mapped = found
    width = _width(model.dimensions)
    ids = np.frombuffer(mapped, "<i8", made.count)
    words = np.frombuffer(mapped, "<u8", made.count * width, made.count * ids.itemsize)
    return Scan(made.last, ids, words.reshape(width, made.count))


def _empty(model: VectorModel) -> Scan:
    return Scan(Last(0, 0), np.empty(0, np.int64), np.empty((_width(model.dimensions), 0), np.uint64))


def _width(dimensions: int) -> int:
    return -(-dimensions // _WORD)


def _bits(vectors: Numbers) -> NDArray[np.uint64]:
    """The signs of vectors, by word."""
    padded = np.zeros((len(vectors), _width(vectors.shape[1]) * _WORD), np.bool_)
    padded[:, : vectors.shape[1]] = vectors > 0
    return np.ascontiguousarray(np.packbits(padded, axis=1).view("<u8").T)


def _differing(words: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """In how many bits each vector differs from the query."""
    counts = np.empty(words.shape[1], np.uint16)
    for begin in range(0, len(counts), _BLOCK):
        block = words[:, begin : begin + _BLOCK] ^ query[:, None]
        counts[begin : begin + _BLOCK] = np.bitwise_count(block).sum(axis=0, dtype=np.uint16)
    return counts


def _through(round_: tuple[int, int], limit: int) -> int:
    least, each = round_
    return max(least, each * limit)


def _smallest(values: NDArray[np.uint16] | Numbers, count: int) -> NDArray[np.intp]:
    """Where the smallest values stand, in no order."""
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]

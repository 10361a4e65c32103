"""Search by meaning: vectors of queries, and the steps of an archive that are nearest to them.

Every vector of the model is compared, page by page: 100,000 take a quarter of a second, half as long as the model takes
to load. A search writes nothing, so a forgotten vector is nowhere but in the archive. It is used only if the user
enabled it, and never in a hook, because a model takes a second to load. Without a model a search uses words alone and
reports that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters, tells_something, those_passing
from unified_state.archive.steps import step_numbers
from unified_state.errors import MissingExtraError
from unified_state.extras.vectors.open_model import open_model
from unified_state.extras.vectors.vector_table import find_model, read_vectors, vectors_after
from unified_state.lib.package import extra_line
from unified_state.model.step import full_name
from unified_state.search.rules.relevance import without

if TYPE_CHECKING:
    from unified_state.extras.vectors.minilm import MiniLm

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    problem = f"a search by meaning needs numpy, which cannot be loaded: {error}"
    raise MissingExtraError(problem, extra_line("vectors")) from error


Numbers = NDArray[np.float32]

_PAGE = 10_000  # vectors read and compared at once
_BEYOND = 10  # factor on the candidates if filters will remove some
_FEW = 10_000  # sessions up to this size are compared completely, in a tenth of a second at most


class EncodedQuery:
    """The vector of a query, for comparison with the vectors of one model in one archive."""

    def __init__(self, archive: Archive, model: int, vector: Numbers) -> None:
        self._archive, self._model, self._vector = archive, model, vector

    def nearest(self, filters: Filters, limit: int) -> list[int]:
        """Return the steps nearest in meaning that pass the filters, the nearest first."""
        many = limit if filters == Filters() else limit * _BEYOND
        of_session = [] if filters.session is None else step_numbers(self._archive, filters.session)
        if 0 < len(of_session) <= _FEW:
            cosines = self.cosines(of_session)
            found = nlargest(many, cosines, key=cosines.__getitem__)
        else:
            found = [step for step, _ in nearest(self._archive, self._model, self._vector, many)]
        return those_passing(self._archive, found, filters)[:limit]

    def cosines(self, steps: Collection[int]) -> dict[int, float]:
        """Return the cosine of each of the steps that has a vector, from -1 to 1."""
        found = read_vectors(self._archive, self._model, list(steps))
        cosines = _matrix(list(found.values()), len(self._vector)) @ self._vector
        return dict(zip(found, cosines.tolist(), strict=True))


class Reader:
    """A reader of queries that uses a model."""

    def __init__(self, model: MiniLm) -> None:
        self._model = model

    def knows(self, archive: Archive) -> bool:
        """Return whether an archive has vectors of the model."""
        return find_model(archive, self._model.name, self._model.version) is not None

    def read(self, archive: Archive, query: str, having: Mapping[str, int], steps: int) -> EncodedQuery | None:
        """Return the meaning of a query, or None if the archive or the query has no vector.

        `having` is the number of steps with each word. The query is encoded unchanged, and again without words that
        many steps have, such as names of speakers.
        """
        number = find_model(archive, self._model.name, self._model.version)
        if number is None:
            return None
        common = {word for word, count in having.items() if not tells_something(count, steps)}
        readings = dict.fromkeys([query, without(query, common)])
        vectors = [vector for vector in self._model.encode(list(readings)) if vector is not None]
        if not vectors:
            return None
        summed = _matrix(vectors, self._model.dimensions).sum(0)
        return EncodedQuery(archive, number, summed / np.linalg.norm(summed))

    def vector(self, query: str) -> tuple[str, list[float]] | None:
        """Return the full name of the model and the vector of a query, or None if it has no vector."""
        (found,) = self._model.encode([query])
        if found is None:
            return None
        return full_name(self._model.name, self._model.version), _matrix([found], self._model.dimensions)[0].tolist()


def open_reader(folder: str) -> Reader:
    """Return the reader that uses the model in a folder."""
    return Reader(open_model(folder))


def nearest(archive: Archive, model: int, query: Numbers, limit: int) -> list[tuple[int, float]]:
    """Return the steps nearest to a unit vector of the model with their cosines, the nearest first.

    The products are made on one thread, unlike those of numpy's `@`, because an agent uses the other cores.
    """
    best: list[tuple[float, int]] = []
    last = 0
    while limit > 0 and (rows := vectors_after(archive, model, last, _PAGE)):
        vectors = _matrix([embedding for _, _, embedding in rows], len(query))
        cosines = np.einsum("ij,j->i", vectors, query).tolist()
        best = nlargest(limit, chain(zip(cosines, (step for _, step, _ in rows), strict=True), best))
        last = rows[-1][0]
    return [(step, cosine) for cosine, step in best]


def _matrix(embeddings: Sequence[bytes], dimensions: int) -> Numbers:
    """Return stored vectors as a matrix, one a row."""
    return np.frombuffer(b"".join(embeddings), "<f2").reshape(-1, dimensions).astype(np.float32)

"""Search by meaning: vectors of queries, and the steps of an archive that are nearest to them.

It is used only if the user enabled it, and never in a hook, because a model takes a second to load. Without a model a
search uses words alone and reports that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import nlargest

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters, tells_something, those_passing
from unified_state.archive.steps import step_numbers
from unified_state.archive.vector_table import find_model, full_name, read_vectors
from unified_state.extras.vectors.models import Model, open_model
from unified_state.extras.vectors.nearest_vectors import Numbers, matrix, nearest, unit
from unified_state.search.rules.relevance import without

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
        cosines = matrix(list(found.values()), len(self._vector)) @ self._vector
        return dict(zip(found, cosines.tolist(), strict=True))


class Reader:
    """A reader of queries that uses a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._last: tuple[list[str], Numbers | None] = ([], None)

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
        readings = list(dict.fromkeys([query, without(query, common)]))
        vector = self._read(readings)
        return None if vector is None else EncodedQuery(archive, number, vector)

    def _read(self, readings: list[str]) -> Numbers | None:
        """Return the vector of some readings. A search of many archives asks for the same ones again."""
        if self._last[0] != readings:
            vectors = [vector for vector in self._model.encode(readings) if vector is not None]
            dimensions = self._model.dimensions
            self._last = readings, unit(matrix(vectors, dimensions).sum(0), dimensions) if vectors else None
        return self._last[1]

    def vector(self, query: str) -> tuple[str, list[float]] | None:
        """Return the full name of the model and the vector of a query, or None if it has no vector."""
        (found,) = self._model.encode([query])
        if found is None:
            return None
        return full_name(self._model.name, self._model.version), matrix([found], self._model.dimensions)[0].tolist()


def open_reader(folder: str) -> Reader:
    """Return the reader that uses the model in a folder."""
    return Reader(open_model(folder))

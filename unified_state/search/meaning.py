"""What a search needs of meaning: the extra `vectors` reads queries, and says how near steps are to one.

It is used only if the user enabled it, and never in a hook, because a model takes a second to load.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters


class QueryVector(Protocol):
    """The vector of a query, for comparison with those of one archive."""

    def cosines(self, steps: Collection[int]) -> dict[int, float]:
        """Return the cosine of each of the steps that has a vector, from -1 to 1."""

    def nearest(self, filters: Filters, limit: int) -> list[int]:
        """Return the steps nearest in meaning that pass the filters, the nearest first."""


class Reader(Protocol):
    """A reader of queries that uses a model."""

    def knows(self, archive: Archive) -> bool:
        """Return whether an archive has vectors of the model."""

    def read(self, archive: Archive, query: str, having: Mapping[str, int], steps: int) -> QueryVector | None:
        """Return the meaning of a query. `having` is the number of steps with each word."""

    def vector(self, query: str) -> tuple[str, list[float]] | None:
        """Return the full name of the model and the vector of a query."""

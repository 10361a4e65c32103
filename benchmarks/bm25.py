"""Plain BM25, as SQLite's FTS5 has it: porter stems, stop words dropped, any of the words. The baseline for search."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from types import TracebackType
from typing import Self

# fmt: off
_STOP_WORDS = frozenset([
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "had", "has",
    "have", "he", "her", "his", "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our", "s", "she",
    "so", "that", "the", "their", "them", "they", "this", "to", "was", "we", "were", "what", "when", "where", "which",
    "who", "why", "will", "with", "would", "you", "your",
])
# fmt: on


class Bm25:
    """An index over texts, in memory: `with Bm25(texts) as index: …`."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'porter unicode61')")
        self._connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def ranked(self, query: str, limit: int) -> list[int]:
        """The numbers of the texts that match best, best first."""
        words = [word for word in re.findall(r"\w+", query.lower()) if word not in _STOP_WORDS]
        matching = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        rows = self._connection.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?", (matching or '""', limit)
        )
        return [number for (number,) in rows]

"""What the full-text index of an archive holds, read from its segments: every word, and the steps that have it.

FTS5 writes a word as what differs from the word before it, so the bytes of a file do not show which words an index has.
The format is described at the begin of SQLite's `fts5_index.c`. All pages are read, whether a segment still counts or
not.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_LEAVES, _PAGE_BITS = 1 << 37, 31  # the numbers of a segment's leaves; above them are its indexes of long lists


def indexed_words(path: Path) -> dict[str, set[int]]:
    """Every word of the index with the steps that have it, deletions too."""
    words: dict[str, set[int]] = {}
    with closing(sqlite3.connect(path)) as archive:
        rows = archive.execute("SELECT id, block FROM step_words_data WHERE id >= ? ORDER BY id", [_LEAVES]).fetchall()
    segments: dict[int, list[bytes]] = {}
    for number, block in rows:
        if number % _LEAVES >> _PAGE_BITS == 0:
            segments.setdefault(number // _LEAVES, []).append(block)
    for leaves in segments.values():
        _Segment(words).read(leaves)
    return words


class _Segment:
    """The words of one segment. A list of steps may begin on one page and go on over the next ones."""

    def __init__(self, words: dict[str, set[int]]) -> None:
        self._words = words
        self._word = b""
        self._step = 0
        self._left = 0  # bytes of positions that stand on the next page

    def read(self, leaves: list[bytes]) -> None:
        for leaf in leaves:
            self._read_leaf(leaf)

    def _read_leaf(self, leaf: bytes) -> None:
        first_step, end = int.from_bytes(leaf[:2], "big"), int.from_bytes(leaf[2:4], "big")
        terms: list[int] = []
        at = end
        while at < len(leaf):
            distance, at = _number(leaf, at)
            terms.append(distance + (terms[-1] if terms else 0))
        bounds = [*terms, end]
        if first_step:
            self._read_steps(leaf, first_step, bounds[0], is_first=True)
        elif not terms:
            self._left -= end - 4
        else:
            self._left = 0
        for place, (begin, stop) in enumerate(zip(terms, bounds[1:], strict=True)):
            at = begin
            kept, at = (0, at) if place == 0 else _number(leaf, at)
            size, at = _number(leaf, at)
            self._word = self._word[:kept] + leaf[at : at + size]
            self._words.setdefault(self._word[1:].decode(), set())
            self._read_steps(leaf, at + size, stop, is_first=True)

    def _read_steps(self, leaf: bytes, at: int, stop: int, *, is_first: bool) -> None:
        while at < stop:
            number, at = _number(leaf, at)
            self._step = number if is_first else self._step + number
            is_first = False
            self._words[self._word[1:].decode()].add(self._step)
            while at < stop and leaf[at] == 0:  # one of a deletion, two where the step came back
                at += 1
        self._left = at - stop


def _number(block: bytes, at: int) -> tuple[int, int]:
    """A number as SQLite writes it, and where the next one begins."""
    number = 0
    for count in range(9):
        byte = block[at + count]
        if count == 8:
            return number << 8 | byte, at + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + count + 1
    raise AssertionError

"""Puts the texts of consecutive steps into blocks.

A block has the number of its first step. No later block gets it, so a step whose block is lost finds no other text.
"""

from __future__ import annotations

from unified_state.lib.text import pack
from unified_state.memory.archive.blocks.text_block import (
    LONGEST_TEXT,
    MOST_BLOCKS,
    MOST_TEXTS,
    PLAIN_BYTES,
    make_block,
    name_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.memory.archive.archive import Archive


class BlockWriter:
    """Fills blocks within one transaction. Its last block is only written by `flush`.

    A block of texts in `made` is not made again.
    """

    def __init__(self, archive: Archive, made: Mapping[tuple[str, ...], bytes] | None = None) -> None:
        self._archive = archive
        self._made = made or {}
        self._texts: list[str] = []
        self._size = 0
        self._first = self._last = 0

    @property
    def is_flushed(self) -> bool:
        """True if each text that was put is in the archive."""
        return not self._texts

    def put(self, number: int, text: str) -> str | bytes | int:
        """Return the body of a step with this text. A long text stays out of the blocks, and so does that of a step
        whose number the disk changed into one that no name can hold.
        """
        size = _size_of(text)
        if not 0 < size <= LONGEST_TEXT or number >= MOST_BLOCKS:
            return self._alone(text)
        if not self._texts:
            self._first = number
        self._texts.append(text)
        self._size += size
        self._last = number
        name = name_of(self._first, len(self._texts) - 1)
        if self._size >= PLAIN_BYTES or len(self._texts) == MOST_TEXTS:
            self.flush()
        return name

    def flush(self) -> None:
        """Write the block that is not full yet."""
        if self._texts:
            texts = tuple(self._texts)
            self._write(texts, self._made.get(texts) or make_block(list(map(_encoded, texts))))
            self._texts, self._size = [], 0

    def _alone(self, text: str) -> str | bytes:
        return pack(text)

    def _write(self, _texts: tuple[str, ...], block: bytes) -> None:
        values = (self._first, self._last, block)
        self._archive.run("INSERT INTO text_block (id, last, body) VALUES (?, ?, ?)", *values)


class BlockMaker(BlockWriter):
    """Makes the blocks of texts ahead of an archive, for a `BlockWriter` that gets the same ones."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, ...], bytes] = {}
        self._texts, self._size, self._made = [], 0, {}

    def _alone(self, _text: str) -> str:
        return ""  # the writer packs it: that is its share of the work

    def _write(self, texts: tuple[str, ...], block: bytes) -> None:
        self.made[texts] = block


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _size_of(text: str) -> int:
    return len(text) if text.isascii() else len(_encoded(text))

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
    from unified_state.memory.archive.archive import Archive


class BlockWriter:
    """Fills blocks within one transaction. Its last block is only written by `flush`."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._texts: list[bytes] = []
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
        encoded = text.encode("utf-8", "surrogatepass")
        if not 0 < len(encoded) <= LONGEST_TEXT or number >= MOST_BLOCKS:
            return pack(text)
        if not self._texts:
            self._first = number
        self._texts.append(encoded)
        self._size += len(encoded)
        self._last = number
        name = name_of(self._first, len(self._texts) - 1)
        if self._size >= PLAIN_BYTES or len(self._texts) == MOST_TEXTS:
            self.flush()
        return name

    def flush(self) -> None:
        """Write the block that is not full yet."""
        if self._texts:
            values = (self._first, self._last, make_block(self._texts))
            self._archive.run("INSERT INTO text_block (id, last, body) VALUES (?, ?, ?)", *values)
            self._texts, self._size = [], 0

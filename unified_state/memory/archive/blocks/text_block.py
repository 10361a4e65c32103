"""A block: the texts of several steps, one behind the other, in one zlib stream.

A step's own stream is short, so it compresses badly, and its last page is half empty. The stream of a block begins with
the lengths of its texts in bytes. The body of a step in a block is an integer that names the block and the place in it.
"""

from __future__ import annotations

from zlib import adler32, compress, decompress
from zlib import error as ZlibError  # noqa: N812

from unified_state.lib.text import UNREADABLE

PLAIN_BYTES = 1 << 15  # of the texts of a block: more saves little, and takes longer to unpack
LONGEST_TEXT = 1 << 14  # bytes; a longer text is compressed alone
_PLACE_BITS = 12
MOST_TEXTS = 1 << _PLACE_BITS
_LEVEL = 6
_STORED, _SIZE_BITS = b"\x78\x01\x01", 0xFFFF  # a stream that is not compressed, in one part (RFC 1950 and 1951)
_KEPT = 4  # blocks that a reader keeps unpacked: the caller often reads neighbours


def name_of(block: int, place: int) -> int:
    """Return the body of the step that has a place in a block."""
    return block << _PLACE_BITS | place


def block_of(name: int) -> int:
    """Return the block that a body names."""
    return name >> _PLACE_BITS


def make_block(texts: list[bytes]) -> bytes:
    """Return the block of some texts."""
    lengths = " ".join(str(len(text)) for text in texts)
    return compress(b"\n".join((lengths.encode(), b"".join(texts))), _LEVEL)


def read_block(block: bytes | None) -> list[bytes]:
    """Return the texts of a block; none if it is missing or its bytes are damaged."""
    if not isinstance(block, bytes):
        return []
    try:
        head, _, plain = decompress(block).partition(b"\n")
        lengths = [int(length) for length in head.split(b" ")]
    except (ZlibError, ValueError):
        return []
    texts, at = [], 0
    for length in lengths:
        texts.append(plain[at : at + length])
        at += length
    return texts if at == len(plain) else []


class BlockReader:
    """Finds texts in blocks. It keeps the last blocks by their bytes, so that a changed block is read again."""

    def __init__(self) -> None:
        self._kept: dict[bytes, list[bytes]] = {}

    def packed(self, name: int, block: bytes | None) -> str | bytes:
        """Return the stored form of the text with a name, out of its block; `UNREADABLE` if it is damaged."""
        texts = self._kept.get(block) if isinstance(block, bytes) else []
        if texts is None:
            texts = read_block(block)
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[block] = texts
        place = name & (MOST_TEXTS - 1)
        return _stored(texts[place]) if place < len(texts) else UNREADABLE


def _stored(text: bytes) -> bytes:
    """Return a zlib stream of a text without compressing it, which takes a tenth of the time of `compress`."""
    size = len(text)
    lengths = size.to_bytes(2, "little") + (size ^ _SIZE_BITS).to_bytes(2, "little")
    return b"".join((_STORED, lengths, text, adler32(text).to_bytes(4, "big")))

"""A block: the texts of several steps, one behind the other, in one deflate stream.

A step's own stream is short, so it compresses badly, and its last page is half empty. The stream of a block begins with
the lengths of its texts in bytes. The body of a step in a block is an integer that names the block and the place in it.
"""

from __future__ import annotations

from zlib import adler32, compressobj, crc32, decompressobj
from zlib import error as ZlibError  # noqa: N812

from unified_state.lib.text import UNREADABLE

PLAIN_BYTES = 24 << 10  # of the texts of a block: in 16 kB they take 4 % more, in 32 kB a search takes 5 % longer
LONGEST_TEXT = 16 << 10  # bytes; a longer text is compressed alone
PLACE_BITS = 12
MOST_TEXTS = 1 << PLACE_BITS
MOST_BLOCKS = 1 << 63 - PLACE_BITS  # a name is a positive integer of SQLite
_LEVEL = 5  # 6 takes a quarter longer for 1 %
_RAW = -15  # a deflate stream without head and checksum
_STORED, _SIZE_BITS = b"\x78\x01\x01", 0xFFFF  # a stream that is not compressed, in one part (RFC 1950 and 1951)
_CHECKSUM, _HEAD, _AHEAD = 4, 512, 4096  # bytes: of the checksum, of most heads, unpacked at least
_KEPT = 4  # blocks that a reader keeps unpacked: the caller often reads neighbours


def name_of(block: int, place: int) -> int:
    """Return the body of the step that has a place in a block."""
    return block << PLACE_BITS | place


def block_of(name: int) -> int:
    """Return the block that a body names."""
    return name >> PLACE_BITS


def make_block(texts: list[bytes]) -> bytes:
    """Return the block of some texts: a checksum of the stream, and the stream."""
    lengths = " ".join(str(len(text)) for text in texts)
    deflate = compressobj(_LEVEL, wbits=_RAW)
    stream = deflate.compress(b"\n".join((lengths.encode(), b"".join(texts)))) + deflate.flush()
    return crc32(stream).to_bytes(_CHECKSUM, "big") + stream


def is_whole(block: bytes | None) -> bool:
    """Return whether a block is there, and its packed bytes have their checksum."""
    return isinstance(block, bytes) and crc32(block[_CHECKSUM:]).to_bytes(_CHECKSUM, "big") == block[:_CHECKSUM]


def without_text(block: bytes, place: int) -> bytes:
    """Return a damaged block without the text at a place. It stays damaged: what it still holds may be wrong."""
    stream, plain = decompressobj(_RAW), b""
    try:
        for begin in range(_CHECKSUM, len(block), _CHECKSUM):
            plain += stream.decompress(block[begin : begin + _CHECKSUM])
    except ZlibError:
        pass  # what comes before the damage is kept
    head, _, rest = plain.partition(b"\n")
    texts, end = list[bytes](), 0
    for length in head.split(b" ") if head.replace(b" ", b"").isdigit() else ():
        begin, end = end, end + int(length)
        texts.append(rest[begin:end] if len(texts) != place else b"")
    left = make_block(texts)
    return bytes(byte ^ 0xFF for byte in left[:_CHECKSUM]) + left[_CHECKSUM:]


def read_block(block: bytes | None) -> list[bytes]:
    """Return the texts of a block; none if it is missing or its bytes are damaged."""
    opened = _OpenBlock(block)
    texts = [opened.text(place) for place in range(len(opened.ends))]
    return [] if None in texts else [text for text in texts if text is not None]


class _OpenBlock:
    """A block that is unpacked as far as its texts were asked for. `ends` has the ends of the texts behind the head.

    zlib's own checksum is one of the whole plain text. That of a block is one of its packed bytes.
    """

    def __init__(self, block: bytes | None) -> None:
        self.block = block
        self.ends: list[int] = []
        self._plain, self._tail = b"", b""
        if block is None or not is_whole(block):
            return
        self._stream, self._tail = decompressobj(_RAW), block[_CHECKSUM:]
        try:
            while b"\n" not in self._plain and self._tail:
                self._unpack(_HEAD)
            head = self._plain.partition(b"\n")[0]
            end = self._begin = len(head) + 1
            for length in head.split(b" "):
                self.ends.append(end := end + int(length))
        except (ZlibError, ValueError):
            self.ends = []

    def _unpack(self, most: int) -> None:
        self._plain += self._stream.decompress(self._tail, most)
        self._tail = self._stream.unconsumed_tail

    def text(self, place: int) -> bytes | None:
        """Return the text at a place, or None if there is none."""
        if place >= len(self.ends):
            return None
        begin, end = self.ends[place - 1] if place else self._begin, self.ends[place]
        try:
            if end > len(self._plain):  # neighbours are often asked for too
                self._unpack(max(end - len(self._plain), _AHEAD))
        except ZlibError:
            return None
        return self._plain[begin:end] if end <= len(self._plain) else None


class BlockReader:
    """Finds texts in blocks. It keeps the last blocks by their bytes, so that a changed block is read again."""

    def __init__(self) -> None:
        self._kept: list[_OpenBlock] = []  # to compare a few is faster than to hash one

    def packed(self, name: int, block: bytes | None) -> str | bytes:
        """Return the stored form of the text with a name, out of its block; `UNREADABLE` if it is damaged."""
        opened = next((kept for kept in self._kept if kept.block == block), None)
        if opened is None:
            opened = _OpenBlock(block)
            self._kept = [opened, *self._kept[: _KEPT - 1]]
        text = opened.text(name & (MOST_TEXTS - 1))
        return UNREADABLE if text is None else _stored(text)


def _stored(text: bytes) -> bytes:
    """Return a zlib stream of a text without compressing it, which takes a tenth of the time of `compress`."""
    size = len(text)
    lengths = size.to_bytes(2, "little") + (size ^ _SIZE_BITS).to_bytes(2, "little")
    return b"".join((_STORED, lengths, text, adler32(text).to_bytes(4, "big")))

"""A pack of git and its index, version 2 (gitformat-pack(5)): the content of a commit by its id.

A repository is not trusted: every number in its files is checked, and memory and work are bounded.
"""

from __future__ import annotations

import os
from zlib import decompressobj
from zlib import error as ZlibError  # noqa: N812

from unified_state.lib.stdlib import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader

LARGEST = 1 << 16  # bytes of a commit, and of all deltas that make one
_MAGIC = b"\xfftOc\0\0\0\2"
_FANOUT = 256 * 4
_NAMES = len(_MAGIC) + _FANOUT  # where the ids begin
_CHECKSUM = 4
_LARGE_OFFSET = 1 << 31  # marks a place in the table of 64-bit offsets
_PIECE = 1 << 12
_COMMIT, _OFFSET_DELTA, _NAME_DELTA = 1, 6, 7
_DEEPEST = 60  # git itself makes chains of up to 50 deltas
_MOST_INSTRUCTIONS = 4_096  # of a delta: git copies 16 bytes or more at once


class DamagedPackError(Exception):
    """A pack or its index is not as git writes it."""


class PackFile:
    """One pack. Files are opened for the first question, and closed by `close`."""

    def __init__(self, index: str) -> None:
        """`index` is the path of the index, `pack-….idx`."""
        self._index_path, self._pack_path = index, f"{index.removesuffix('.idx')}.pack"
        self._files: list[BufferedReader] = []
        self._fanout = b""

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()
        self._files = []

    def commit(self, name: bytes) -> bytes | None:
        """Return the content of the commit of a binary id; None if it is not here or no commit.

        Raises OSError, DamagedPackError and zlib's error.
        """
        self._open()
        offset = self._offset(name)
        return None if offset is None else self._content(offset, len(name))

    def _open(self) -> None:
        if self._files:
            return
        self._files = [open_regular(self._index_path, 0)]
        self._files.append(open_regular(self._pack_path, 0))
        if _read(self._files[0], 0, len(_MAGIC)) != _MAGIC:
            message = "it is no index of version 2"
            raise DamagedPackError(message)
        self._fanout = _read(self._files[0], len(_MAGIC), _FANOUT)

    def _count_up_to(self, first: int) -> int:
        return int.from_bytes(self._fanout[first * 4 : first * 4 + 4], "big") if first >= 0 else 0

    def _offset(self, name: bytes) -> int | None:
        """Return where an object is in the pack."""
        index, width = self._files[0], len(name)
        low, high, total = self._count_up_to(name[0] - 1), self._count_up_to(name[0]), self._count_up_to(255)
        while low < high:
            middle = (low + high) // 2
            found = _read(index, _NAMES + middle * width, width)
            if found == name:
                offsets = _NAMES + total * (width + _CHECKSUM)
                place = int.from_bytes(_read(index, offsets + middle * 4, 4), "big")
                if place < _LARGE_OFFSET:
                    return place
                return int.from_bytes(_read(index, offsets + total * 4 + (place - _LARGE_OFFSET) * 8, 8), "big")
            low, high = (middle + 1, high) if found < name else (low, middle)
        return None

    def _content(self, offset: int, width: int) -> bytes | None:
        deltas: list[bytes] = []
        while len(deltas) < _DEEPEST:
            head = _read(self._files[1], offset, _PIECE, is_exact=False)
            kind, size, at = _kind_and_size(head)
            if kind == _COMMIT:
                content = self._inflated(offset + at, size)
                for delta in reversed(deltas):
                    content = patched(content, delta)
                return content
            if kind == _OFFSET_DELTA:
                back, at = _distance(head, at)
                base: int | None = offset - back
            elif kind == _NAME_DELTA:
                base, at = self._offset(head[at : at + width]), at + width
            else:
                return None
            if base is None or base <= 0:
                return None
            deltas.append(self._inflated(offset + at, size))
            if sum(map(len, deltas)) > LARGEST:
                break
            offset = base
        message = "its chain of deltas is too long"
        raise DamagedPackError(message)

    def _inflated(self, offset: int, size: int) -> bytes:
        if size > LARGEST:
            message = "a commit is too large"
            raise DamagedPackError(message)
        inflater, content = decompressobj(), b""
        end = offset + 2 * LARGEST  # an endless row of empty blocks has no content
        while not inflater.eof and len(content) < size and offset < end:
            piece = _read(self._files[1], offset, _PIECE, is_exact=False)
            offset += len(piece)
            if not piece:
                break
            content += inflater.decompress(piece, size - len(content) + 1)
            while inflater.unconsumed_tail and len(content) < size:
                content += inflater.decompress(inflater.unconsumed_tail, size - len(content) + 1)
        if len(content) != size:
            message = "an object has another size than its pack says"
            raise DamagedPackError(message)
        return content


def packs_in(folder: str, most: int) -> list[PackFile]:
    """Return the packs of an object folder, at most so many."""
    try:
        names = sorted(os.listdir(os.path.join(folder, "pack")))
    except OSError:
        return []
    return [PackFile(os.path.join(folder, "pack", name)) for name in names if name.endswith(".idx")][:most]


def patched(base: bytes, delta: bytes) -> bytes:
    """Return what a delta makes of its base (gitformat-pack(5), "Deltified representation")."""
    base_size, at = _number(delta, 0)
    size, at = _number(delta, at)
    if base_size != len(base) or size > LARGEST:
        message = "a delta has another base"
        raise DamagedPackError(message)
    parts: list[bytes] = []
    length = 0
    while at < len(delta) and len(parts) < _MOST_INSTRUCTIONS:
        code = delta[at]
        at += 1
        if code & 0x80:
            fields = []
            for bit in range(7):
                fields.append(delta[at] if code >> bit & 1 and at < len(delta) else 0)
                at += code >> bit & 1
            begin, count = int.from_bytes(bytes(fields[:4]), "little"), int.from_bytes(bytes(fields[4:]), "little")
            part = base[begin : begin + (count or 0x10000)]
        else:
            part, at = delta[at : at + code], at + code
        parts.append(part)
        length += len(part)
        if not part or length > size:
            break
    if length != size:
        message = "a delta is damaged"
        raise DamagedPackError(message)
    return b"".join(parts)


def _kind_and_size(head: bytes) -> tuple[int, int, int]:
    """Return the kind of an object, its size, and where its data begins."""
    byte = head[0] if head else 0
    kind, size, at, shift = byte >> 4 & 7, byte & 15, 1, 4
    while byte & 0x80 and at < len(head) and shift < 64:  # noqa: PLR2004
        byte = head[at]
        size |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return kind, size, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80 or shift > 63:  # noqa: PLR2004
            break
    return value, at


def _distance(head: bytes, at: int) -> tuple[int, int]:
    """Return how far before a delta its base is."""
    value = 0
    while at < len(head):
        byte = head[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if not byte & 0x80 or value > 1 << 62:
            break
        value += 1
    return value, at


def _read(file: BufferedReader, offset: int, count: int, *, is_exact: bool = True) -> bytes:
    try:
        file.seek(offset)
    except (ValueError, OverflowError) as error:
        raise DamagedPackError(str(error)) from error
    content = file.read(count)
    if is_exact and len(content) < count:
        message = "it is truncated"
        raise DamagedPackError(message)
    return content


UNREADABLE = (OSError, DamagedPackError, ZlibError)

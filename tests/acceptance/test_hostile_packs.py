"""A pack that is made to cost much time: the start of a session still gives the state."""

from __future__ import annotations

import zlib
from pathlib import Path

from .product import Project, restored

HEAD = "ab" * 20  # nothing asks for the hash of the content
COPIES, DELTAS = 400_000, 59
COMMIT, OFFSET_DELTA = 1, 6


def test_a_pack_whose_commit_costs_much_time_leaves_the_state(project: Project, tmp_path: Path) -> None:
    project.decide("Use SQLite")
    folder = project.folder / ".git/objects/pack"
    pack, index = costly_pack(COPIES)
    (folder / "pack-1.pack").write_bytes(pack)
    (folder / "pack-1.idx").write_bytes(index)
    (project.folder / ".git/refs/heads/main").write_text(f"{HEAD}\n", encoding="ascii")
    assert "Use SQLite" in restored(project, tmp_path / "s.jsonl")["brief"]


def costly_pack(copies: int) -> tuple[bytes, bytes]:
    """A pack of one commit, a chain of deltas that each copy one byte many times, and its index. What comes out
    is no header of a commit.
    """
    content = b"committer a <a> 1 +0000\n\n".ljust(copies, b"x")
    pack = b"PACK\0\0\0\2" + (DELTAS + 1).to_bytes(4, "big")
    before, here = 0, len(pack)
    pack += head(COMMIT, copies) + zlib.compress(content, 9)
    for _ in range(DELTAS):
        before, here = here, len(pack)
        delta = number(copies) * 2 + b"\x90\x01" * copies
        pack += head(OFFSET_DELTA, len(delta)) + distance(here - before) + zlib.compress(delta, 9)
    name = bytes.fromhex(HEAD)
    fanout = b"".join((1 if first >= name[0] else 0).to_bytes(4, "big") for first in range(256))
    return pack, b"\xfftOc\0\0\0\2" + fanout + name + bytes(4) + here.to_bytes(4, "big") + bytes(40)


def head(kind: int, size: int) -> bytes:
    """The kind and the size of an object in a pack."""
    first, size = kind << 4 | size & 15, size >> 4
    return bytes([first | 0x80]) + number(size) if size else bytes([first])


def number(value: int) -> bytes:
    """A number of seven bits a byte, the lowest first."""
    found = b""
    while value > 0x7F:
        found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
    return found + bytes([value])


def distance(value: int) -> bytes:
    """How far before a delta its base is, the highest bits first."""
    found = bytes([value & 0x7F])
    while value := value >> 7:
        value -= 1
        found = bytes([value & 0x7F | 0x80]) + found
    return found

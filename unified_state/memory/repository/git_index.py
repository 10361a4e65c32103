"""The submodules in git's index, which `git status` searches for changes."""

from __future__ import annotations

import os

from unified_state.lib.stdlib import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SUBMODULE = b"\0\0\xe0\0"  # the mode of its entry, 0160000
_SIMPLE = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")  # other versions abbreviate names by the preceding ones
_STEP = 1 << 18  # bytes
_LONGEST_ENTRY = 1 << 13  # bytes from a mode to the end of the name
_HASHES = (20, 32)  # bytes, of SHA-1 and SHA-256
_TO_HASH, _FLAGS, _EXTENDED = 16, 2, 0x40


def submodules(git_dir: str) -> set[str] | None:
    """Return the paths of the submodules in an index, and perhaps more paths; None if a search cannot find them all.

    An entry is found by its mode, in any index that is one file with whole names. The same bytes may occur elsewhere,
    so a path may be false. The entries themselves are not parsed, because there may be a million. Raises OSError.
    """
    if any(name.startswith("sharedindex.") for name in os.listdir(git_dir)):
        return None
    found: set[str] = set()
    try:
        with open_regular(os.path.join(git_dir, "index")) as file:
            if file.read(len(_SIMPLE[0])) not in _SIMPLE:
                return None
            for start in range(0, os.fstat(file.fileno()).st_size, _STEP):
                file.seek(start)
                found.update(_paths(file.read(_STEP + _LONGEST_ENTRY)))
    except FileNotFoundError:
        return found
    return found


def _paths(piece: bytes) -> Iterator[str]:
    """Yield the paths of the entries whose modes begin in the first _STEP bytes of a piece. A path may be false."""
    at = piece.find(_SUBMODULE)
    while -1 < at < _STEP:
        for length in _HASHES:
            flags = at + _TO_HASH + length
            is_extended = bool(piece[flags : flags + 1]) and piece[flags] & _EXTENDED
            name = flags + (2 * _FLAGS if is_extended else _FLAGS)
            yield os.fsdecode(piece[name : piece.find(b"\0", name)])
        at = piece.find(_SUBMODULE, at + 1)

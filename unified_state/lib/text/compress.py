"""How the archive holds a text: short ones as they are, longer ones as a zlib stream of their UTF-8.

Level 4 is the knee: it takes the time of level 1 on transcripts and saves most of what level 9 saves. Lone surrogates
(half an emoji, cut by the client) are kept: SQLite refuses them in text, a compressed stream holds them.
"""

from __future__ import annotations

from zlib import compress, decompress
from zlib import error as ZlibError  # noqa: N812

UNREADABLE = "[damaged in the archive]"  # what stands for a text whose bytes the disk has changed
_LEVEL = 4
_WORTH_COMPRESSING = 100  # bytes; below, the stream's own header eats the gain


def pack(text: str) -> str | bytes:
    """The text as it is stored: itself, or compressed where that is smaller or where it holds lone surrogates."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) >= _WORTH_COMPRESSING:
        packed = compress(encoded, _LEVEL)
        if len(packed) < len(encoded):
            return packed
    return text if text.isascii() or _is_well_formed(text) else compress(encoded, _LEVEL)


def unpack(stored: str | bytes | None) -> str:
    """The text again, exactly; `UNREADABLE` where its bytes were changed on the disk."""
    if isinstance(stored, bytes):
        try:
            return decompress(stored).decode("utf-8", "surrogatepass")
        except (ZlibError, UnicodeDecodeError):
            return UNREADABLE
    return stored or ""


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced, for whoever refuses them (SQLite, the terminal)."""
    if text.isascii() or _is_well_formed(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def escape_surrogates(text: str) -> str:
    """The text with lone surrogates escaped as in JSON: what is JSON stays the same JSON, and two texts stay two."""
    return text.encode("utf-8", "backslashreplace").decode()


def _is_well_formed(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

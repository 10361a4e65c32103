"""What the full-text index sees of a text.

SQLite's unicode61 tokenizer splits at spaces and signs, and takes a whole run of Chinese, Japanese or Korean as one
word, so that nothing inside could be found. Such runs are indexed as overlapping pairs of characters, the usual way
(bigrams).
"""

from __future__ import annotations

from itertools import pairwise

from unified_state.lib.text.compress import well_formed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIRST_CJK = "\u2e80"
# Radicals to the end of the unified ideographs, Hangul, compatibility ideographs, half-width forms, and the planes 2
# and 3.
_CJK_RANGES = ((0x2E80, 0xA4CF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x20000, 0x3FFFF))


def index_text(text: str) -> str:
    """The text as it is indexed: as it stands where it holds no CJK, else with each CJK run as pairs and its last
    character.
    """
    if text.isascii():
        return text
    text = well_formed(text)
    if max(text) < _FIRST_CJK:
        return text
    pieces: list[str] = []
    run: list[str] = []
    for character in text:
        if is_cjk(character):
            run.append(character)
            continue
        if run:
            pieces.append(_pairs(run))
            run = []
        pieces.append(character)
    if run:
        pieces.append(_pairs(run))
    return "".join(pieces)


def strings_of(value: Any) -> str:
    """All texts in a JSON value, one a line, as the index wants them: without the escapes that JSON would put in."""
    found: list[str] = []
    waiting = [value]  # not by recursion: JSON may be nested deeper than Python likes to go
    while waiting:
        value = waiting.pop()
        if isinstance(value, (dict, list)):
            waiting += reversed(value.values() if isinstance(value, dict) else value)
        elif value is not None and not isinstance(value, bool) and value != "":
            found.append(str(value))
    return "\n".join(found)


def _pairs(run: list[str]) -> str:
    pairs = [first + second for first, second in pairwise(run)]
    return f" {' '.join([*pairs, run[-1]])} "


def is_cjk(character: str) -> bool:
    """Whether it is a character of Chinese, Japanese or Korean."""
    return any(first <= ord(character) <= last for first, last in _CJK_RANGES)

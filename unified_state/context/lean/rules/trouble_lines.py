"""Where an output tells of trouble: errors, failures, warnings that matter. Such a line and what stands around it is
never cut.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_WORDS = (  # in whatever case; to look for one takes half a millisecond a megabyte
    b"error", b"fail", b"panic", b"fatal", b"critical", b"exception", b"traceback", b"not ok", b"assertion", b"denied",
    b"refused", b"segmentation", b"undefined", b"unresolved", b"not found", b"no such", b"backoff",
    b"oomkilled", b"unhealthy",
)  # fmt: skip
_SPELLINGS: dict[str | bytes, tuple[str, ...]] = {  # of words that say nothing when they are spelled otherwise
    b"fail": ("FAIL", "failed", "Failed", "failure", "Failure"),
    b"critical": ("CRITICAL",),
    b"traceback": ("Traceback",),
}
_SIGNS = ("\u2717", "\u2718", "\u2716", "\u25cf")
_DIGITS = b"0123456789"
_LONG, _SAMPLE, _FEW = 100_000, 20_000, 4  # characters; one of so many is not the repeat of another
MOST = 2_000  # an output with more lines of trouble is left alone
_NO_TROUBLE = (
    "0 errors",
    "no errors",
    "0 failed",
    "0 failures",
    "Failures: 0, Errors: 0",
    "failed=0",
    "fail 0",
    "0 error",
    '"error": null',
    '"error":null',
    '"errors": []',
)


def trouble_places(text: str) -> list[int]:
    """A place in each line that tells of trouble, in order; of an output that is full of them some more than `MOST`."""
    places: dict[int, int] = {}  # by the end of the line
    folded = text.encode("ascii", "replace").lower()  # a byte for each character, so that places are the same
    distinct = _distinct(folded)
    for word in _WORDS:
        if distinct is folded or word in distinct:
            _note_lines(text, folded.find, word, places)
    for sign in () if text.isascii() else _SIGNS:
        _note_lines(text, text.find, sign, places)
    return sorted(place for end, place in places.items() if not _is_none(text[max(0, place - 20) : end][:80]))


def _distinct(folded: bytes) -> bytes:
    """A text without the repeats of lines that differ in nothing but digits, where it has many: most of what is very
    long was printed by a few places in a program, and then it is known at once which words stand nowhere.
    """
    if len(folded) < _LONG or len(_without_repeats(folded[:_SAMPLE])) > _SAMPLE // _FEW:
        return folded
    return _without_repeats(folded)


def _without_repeats(folded: bytes) -> bytes:
    return b"\n".join(set(folded.translate(None, _DIGITS).split(b"\n")))


def _note_lines(text: str, find: Callable[[Any, int], int], trace: str | bytes, places: dict[int, int]) -> None:
    """Note where a trace stands first in each line."""
    spellings = _SPELLINGS.get(trace)
    place = find(trace, 0)
    while place >= 0 and len(places) <= MOST:
        behind = place + 1
        if spellings is None or text.startswith(spellings, place):
            end = text.find("\n", place)
            behind = end = len(text) if end < 0 else end
            places.setdefault(end, place)
        place = find(trace, behind)


def _is_none(line: str) -> bool:
    return any(words in line for words in _NO_TROUBLE)

"""Where an output tells of trouble: errors, failures, warnings that matter. Such a line and what stands around it is
never cut.
"""

from __future__ import annotations

_TRACES = (  # each costs half a millisecond a megabyte
    "rror", "ERROR", "FAIL", "ailed", "ailure", "panic", "atal", "FATAL", "CRITICAL", "xception", "Traceback", "not ok",
    "ssertion", "enied", "efused", "egmentation", "ndefined", "nresolved", "not found", "No such",
    "\u2717", "\u2718", "\u2716", "\u25cf",
)  # fmt: skip
MOST = 2_000  # an output with more lines of trouble is left alone
_NO_TROUBLE = (
    "0 errors",
    "no errors",
    "0 failed",
    "0 failures",
    "0 error",
    '"error": null',
    '"error":null',
    '"errors": []',
)


def trouble_places(text: str) -> list[int]:
    """A place in each line that tells of trouble, in order; of an output that is full of them some more than `MOST`."""
    places: dict[int, int] = {}
    for trace in _TRACES:
        place = text.find(trace)
        while place >= 0 and len(places) <= MOST:
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
            places.setdefault(end, place)
            place = text.find(trace, end)
    return sorted(place for end, place in places.items() if not _is_none(text[max(0, place - 20) : end][:80]))


def _is_none(line: str) -> bool:
    return any(words in line for words in _NO_TROUBLE)

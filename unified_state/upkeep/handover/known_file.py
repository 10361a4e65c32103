"""Whether a file is a hand-over, by its beginning, without reading it to its end."""

from __future__ import annotations

from unified_state.lib.stdlib import open_regular
from unified_state.memory.history.history_file import FORMAT

_PAGE, _FIELD = b"# Hand-over of ", b'"handover"'
_HEAD, _LONGEST_LINE = 100, 1 << 20  # bytes: the header names its format first


def is_page(path: str) -> bool:
    """Return whether a file is a page for people."""
    return _first_line(path).startswith(_PAGE)


def has_header(path: str) -> bool:
    """Return whether a file begins with the header of a history file, which may be damaged."""
    return FORMAT.encode() in _first_line(path)[:_HEAD]


def is_handover(path: str) -> bool:
    """Return whether a file is a hand-over of either kind."""
    return is_page(path) or (has_header(path) and _FIELD in _first_line(path))


def _first_line(path: str) -> bytes:
    """Return the first line; b"" for a file that cannot be read."""
    try:
        with open_regular(path) as file:
            return file.readline(_LONGEST_LINE)
    except OSError:
        return b""

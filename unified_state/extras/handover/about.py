"""What a hand-over says beside its records, and how that is read from a file that somebody else wrote.

Whether a file is a hand-over is told by its beginning, without reading it to its end.
"""

from __future__ import annotations

from typing import Any

from unified_state.lib.read_files import open_regular
from unified_state.lib.record import Record
from unified_state.upkeep.history.history_file import FORMAT

_LONGEST, _LONGEST_BRIEF = 1_000, 60_000  # characters


class HandoverHeader(Record):
    """When and for whom a hand-over was made, of which session and commit, and the text of a restore."""

    at: str
    brief: str
    audience: str | None = None
    session: str | None = None
    host: str | None = None
    commit: str | None = None
    branch: str | None = None


def read_about(told: dict[str, Any]) -> HandoverHeader:
    """Return what the first line of a hand-over says. What is no text is left out, and what is too long is cut."""
    texts = {name: _text(told, name) for name in ("audience", "session", "host", "commit", "branch")}
    return HandoverHeader(at=_text(told, "at") or "", brief=_text(told, "brief", _LONGEST_BRIEF) or "", **texts)


def _text(told: dict[str, Any], name: str, longest: int = _LONGEST) -> str | None:
    value = told.get(name)
    return value[:longest] if isinstance(value, str) else None


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

"""The client's own figures of a session, as its status line was last told: a small file for each session.

The status line writes it several times a minute, so it is written at once and never waited for; half a file counts as
none. Files of old sessions go when new ones come.
"""

from __future__ import annotations

import os
from zlib import crc32

from unified_state.interpreter import dump_json, parse_json
from unified_state.records.context import Reading

_FOLDER = "usage"
_MOST_FILES = 50
_MOST_BYTES = 1_000


def keep_usage(folder: str, session_id: str, reading: Reading) -> None:
    """Write down what the client said, if it is new."""
    known = read_usage(folder, session_id)
    if known is not None and (known.tokens, known.window) == (reading.tokens, reading.window):
        return
    path = _path(folder, session_id)
    if known is None:
        _make_room(os.path.dirname(path))
    line = dump_json([reading.tokens, reading.window, reading.at])
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def read_usage(folder: str, session_id: str) -> Reading | None:
    """What the client last said of a session; None where it has no status line of ours."""
    try:
        with open(_path(folder, session_id), encoding="utf-8") as file:
            tokens, window, at = parse_json(file.read(_MOST_BYTES))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not all(isinstance(value, int) for value in (tokens, window, at)) or tokens < 0 or window <= 0:
        return None
    return Reading(tokens, window, at)


def _path(folder: str, session_id: str) -> str:
    """The file of a session; an id that is no plain word is not trusted to be a name."""
    plain = session_id.replace("-", "").replace("_", "")
    is_plain = plain.isascii() and plain.isalnum() and len(session_id) <= 100  # noqa: PLR2004  # what file systems take
    name = session_id if is_plain else f"{crc32(session_id.encode('utf-8', 'replace')):08x}"
    return os.path.join(folder, _FOLDER, f"{name}.json")


def _make_room(folder: str) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with os.scandir(folder) as found:
        files = sorted(found, key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - _MOST_FILES + 1)]:
        os.unlink(file.path)

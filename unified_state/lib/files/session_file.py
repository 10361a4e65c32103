"""Small files of a repository, one for each session: what is known of one must be had without opening the archive.

Files of old sessions go when new ones come.
"""

from __future__ import annotations

import os
from zlib import crc32

_MOST_FILES = 50


def session_file(folder: str, kind: str, session_id: str) -> str:
    """The file of a session; an id that is no plain word is not trusted to be a name."""
    plain = session_id.replace("-", "").replace("_", "")
    is_plain = plain.isascii() and plain.isalnum() and len(session_id) <= 100  # noqa: PLR2004  # what file systems take
    name = session_id if is_plain else f"{crc32(session_id.encode('utf-8', 'replace')):08x}"
    return os.path.join(folder, kind, f"{name}.json")


def write_session_file(path: str, content: str) -> None:
    """Write it at once, and never wait for it: half a file counts as none."""
    if not os.path.exists(path):
        _make_room(os.path.dirname(path))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, content.encode())
    finally:
        os.close(descriptor)


def _make_room(folder: str) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with os.scandir(folder) as found:
        files = sorted(found, key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - _MOST_FILES + 1)]:
        os.unlink(file.path)

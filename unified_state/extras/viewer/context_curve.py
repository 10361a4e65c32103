"""How full the context was: the sizes that the API reported with each answer, as the transcript has them."""

from __future__ import annotations

import os
from bisect import bisect
from collections.abc import Iterator

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import compactions_of
from unified_state.extras.viewer.page_writer import write_page
from unified_state.hosts.transcripts.transcript_lines import parse_entries, time_of, usage_of
from unified_state.lib.read_files import open_regular

_MOST = 1 << 26  # bytes that are read of a transcript, its last ones
_COLUMNS = 400


def curve_source(archive: Archive, session: int) -> str | None:
    """Return the path of a session's own transcript, or None if it is no longer there."""
    paths = archive.column("SELECT path FROM transcript WHERE session = ? AND agent IS NULL", session)
    return next(filter(os.path.isfile, paths), None)


def context_curve(archive: Archive, session: int) -> str:
    """Return the picture with its caption, or "" where no size is reported."""
    path = curve_source(archive, session)
    try:
        points = list(_points(path)) if path else []
    except OSError:
        points = []
    if not points:
        return ""
    times = [at for at, _ in points]
    size = max(1, len(points) // _COLUMNS)
    most = max(tokens for _, tokens in points)
    return write_page(
        "curve.html",
        bars=[max(tokens for _, tokens in points[at : at + size]) * 100 / most for at in range(0, len(points), size)],
        marks=[
            (cut.id, bisect(times, cut.boundary_at or cut.started_at) / size)
            for cut in compactions_of(archive, session, -1)
        ],
        most=most,
        answers=len(points),
    )


def _points(path: str) -> Iterator[tuple[int, int]]:
    """Yield time and size of each answer. Its entries, one for each block, have the same id and size."""
    last = ""
    with open_regular(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST))
        for line in file:
            for entry in parse_entries(line) if b'"usage"' in line else ():
                usage = usage_of(entry)
                if usage is not None and usage.message_id != last:
                    last = usage.message_id
                    yield time_of(entry), usage.context_tokens

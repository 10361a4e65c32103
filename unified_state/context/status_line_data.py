"""Collect the data of the status line of a session.

It hardly waits for a writer, changes no record, and omits data that cannot be read now.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import session_number
from unified_state.context.context_table import seen_limits
from unified_state.context.read_context import limit_of
from unified_state.context.rules.context_phase import phase_of
from unified_state.context.rules.status_text import StatusFigures
from unified_state.errors import UnifiedStateError
from unified_state.lib.json_text import parse_object
from unified_state.lib.text import unpack
from unified_state.lib.times import age_text, to_milliseconds
from unified_state.model.constraint import USER_SAID
from unified_state.model.context_usage import Reading
from unified_state.project.health import newest_problem
from unified_state.project.place import Place
from unified_state.settings import Settings

_PATIENCE = 0.02  # seconds to wait for a writer; the next refresh is soon


def glance_at(
    place: Place, settings: Settings, session_id: str, reading: Reading | None, now: int, environ: Mapping[str, str]
) -> StatusFigures:
    """Return all figures that can be read now."""
    glance = StatusFigures(problem=_problem(place.folder, now))
    seen: list[int] = []
    # An archive may be locked or damaged; the hooks find and report damage.
    with suppress(UnifiedStateError):
        if os.path.exists(place.archive_path):  # a journal would be replayed each time
            with Archive(place.archive_path, seconds=_PATIENCE) as archive:
                glance = glance.replace(**_recorded(archive, place.state_path, now))
                if reading is not None:
                    session = session_number(archive, session_id) or 0  # a new session uses the limits of others
                    seen = seen_limits(archive, session, reading.window)
    if reading is None:
        return glance
    limit = limit_of(reading, seen, place.repository.worktree, environ)
    phase = phase_of(reading.tokens, limit.tokens, (settings.context_warning, settings.context_optimise))
    return glance.replace(tokens=reading.tokens, window=reading.window, compacts_at=limit.tokens, phase=phase)


def _recorded(archive: Archive, state_path: str, now: int) -> dict[str, Any]:
    """Return the counts of items, and the time of the last save."""
    users = archive.rows(
        "SELECT body FROM item WHERE kind = 'constraint' AND status = 'active' AND origin = ?", USER_SAID
    )  # as everywhere, only the user's own constraints block
    saved = archive.row("SELECT at FROM saved WHERE state_path = ?", state_path)
    saved_at = to_milliseconds(saved[0]) if saved else None
    return {
        "items": archive.row("SELECT count(*) FROM item WHERE status = 'active'")[0],
        "waiting": archive.row("SELECT count(*) FROM item WHERE status = 'proposed'")[0],
        "blocking": sum(bool((parse_object(unpack(body)) or {}).get("blocking")) for (body,) in users),
        "saved": None if saved_at is None else age_text(now, saved_at),
    }


def _problem(folder: str, now: int) -> str | None:
    """Return the hook that failed in its last run, and the time."""
    newest = newest_problem(folder)
    return None if newest is None else f"{newest.event} failed {age_text(now, newest.at)}"

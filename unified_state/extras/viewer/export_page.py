"""One page as one file: it needs no server, no script and no network."""

from __future__ import annotations

from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.steps import turn_of_step
from unified_state.errors import NotFoundError, UsageError
from unified_state.extras.viewer.compaction_page import compaction_values
from unified_state.extras.viewer.context_curve import context_curve
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.page_writer import MOST_CHARACTERS, page_values, static_file, write_page
from unified_state.extras.viewer.session_pages import EVERY_TURN, read_page, session_values
from unified_state.extras.viewer.state_page import state_values
from unified_state.hosts.transcripts.rules.hosts import title_of_host
from unified_state.model.refs import COMPACTION, STEP, TURN, kind_of, parse_ref
from unified_state.search.timeline_table import session_of_turn, session_page, sessions_called

STATE = "state"
MOST_BYTES = 2_000_000
_OPEN_TURNS = 30  # the last ones of a session; those before are folded
_LIMITS = (MOST_CHARACTERS, 1_000, 300, 100, 30)  # characters of a text: the first that makes the file small enough


def export_page(archive: Archive, project: Project, what: str, now: int) -> str:
    """Return the page of a session (its id, or the ref of a turn in it), of a compaction, or of the state, as a file.

    Without `what` it is the newest session. Raises NotFoundError, and UsageError for another ref.
    """
    if what == STATE:
        return _written("state.html", project, form=False, **state_values(archive, project, now))
    if kind_of(what) == COMPACTION:
        return _written("compaction.html", project, **compaction_values(archive, project, parse_ref(what)[1], now))
    session = session_called(archive, what, now)
    values = session_values(archive, session)
    page = read_page(archive, session, 0, values["compactions"], EVERY_TURN)
    own = [turn.line.number for turn in page.turns if turn.line.agent is None and turn.parts]
    first_open = own[-_OPEN_TURNS] if len(own) > _OPEN_TURNS else 0
    curve = context_curve(archive, session)
    for limit in _LIMITS:
        written = _written(
            "session.html",
            project,
            page=page,
            host=title_of_host(values["session"].session_id),
            first_open=first_open,
            **{**page_values("sessions", now), **values, "limit": limit, "curve": curve},
        )
        if len(written.encode("utf-8", "replace")) <= MOST_BYTES:
            break
    return written


def _written(name: str, project: Project, **values: Any) -> str:
    style = static_file("viewer.css").decode()
    return write_page(name, project=project, style=style, **{**values, "is_export": True})


def session_called(archive: Archive, what: str, now: int) -> int:
    """Return the number of a session by (the begin of) its id, or by the ref of a turn or step in it, or of the newest.

    Raises NotFoundError and UsageError.
    """
    if not what:
        newest = session_page(archive, now, 0, 1)
        if not newest:
            message = "no session is archived here yet"
            raise NotFoundError(message, "run `unified-state import` for old sessions")
        return newest[0].number
    found = sessions_called(archive, what)
    session = found[0] if len(found) == 1 else None
    if session is None:
        kind, number = parse_ref(what)
        if kind not in (TURN, STEP):
            message = f"{what} is no session, compaction or turn"
            raise UsageError(message, "name a session, K2, T41, or `state`")
        session = session_of_turn(archive, turn_of_step(archive, number) if kind == STEP else number)
    if session is None:
        message = f"there is no {what}"
        raise NotFoundError(message, "`unified-state search` names the sessions it finds")
    return session

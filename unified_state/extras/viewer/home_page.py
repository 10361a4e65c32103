"""The home page: sessions, what waits for the user, and the health of the project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.page_writer import MOST_CHARACTERS, write_page
from unified_state.hosts.transcripts.rules.hosts import title_of_host
from unified_state.ledger.item_table import ACTIVE, PROPOSED, count_items
from unified_state.project.health import health_line
from unified_state.search.timeline.timeline_table import session_page

SESSIONS = 50  # on one page


def home_page(archive: Archive, project: Project, projects: Iterable[Project], now: int, offset: int = 0) -> str:
    """Return the home page of a project, with its sessions from the offset on."""
    sessions = session_page(archive, now, offset, SESSIONS + 1)
    workspace = project.workspace
    return write_page(
        "home.html",
        project=project,
        projects=list(projects),
        sessions=sessions[:SESSIONS],
        hosts={one.number: title_of_host(one.session_id) for one in sessions},
        earlier=offset + SESSIONS if len(sessions) > SESSIONS else None,
        active=count_items(archive, ACTIVE),
        waiting=count_items(archive, PROPOSED),
        health=health_line(workspace.place.folder, now) if workspace else None,
        **page_values("sessions", now),
    )


def page_values(tab: str, now: int, **others: Any) -> dict[str, Any]:
    """Return the values that every page needs. `tab` is the part of the navigation that it belongs to."""
    return {"tab": tab, "now": now, "is_export": False, "live": None, "limit": MOST_CHARACTERS, **others}

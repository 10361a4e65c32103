"""The search page: the search of the command line, with its filters and its hits marked; without words its log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from unified_state.archive.archive import Archive
from unified_state.errors import UnifiedStateError
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.page_writer import page_values, write_page
from unified_state.lib.text import cut
from unified_state.model.step import PROMPT, Hit
from unified_state.project.workspace.workspace import items_for_all
from unified_state.search.find import SearchRequest, filters_of, query_reader
from unified_state.search.log import LogRequest, read_log
from unified_state.search.search_archive import search

if TYPE_CHECKING:
    from unified_state.search.search_archive import Reader

FIELDS = ("kind", "tool", "file", "since", "session")
_LIMIT, _CHARACTERS = 30, 300


def search_page(archive: Archive, project: Project, asked: Mapping[str, str], now: int) -> str:
    """Return the page with the hits of a query. Unlike the command it notes nothing in the archive."""
    query, chosen = asked.get("q", "").strip(), {name: asked.get(name, "").strip() for name in FIELDS}
    problem, hits, reader = "", list[Hit](), None
    try:
        if not query:
            hits = _log(archive, chosen, now)
        else:
            reader = query_reader(project.workspace, is_told=True) if project.workspace else None
            hits = _hits(archive, project, chosen, query, now, reader)
    except UnifiedStateError as error:
        problem = str(error)
    return write_page(
        "search.html",
        project=project,
        query=query,
        chosen=chosen,
        chips=_chips(chosen, query),
        by_meaning=reader is not None,
        hits=hits,
        problem=problem,
        **page_values("search", now),
    )


def _chips(chosen: Mapping[str, str], query: str) -> list[tuple[str, str, str]]:
    """Return each filter with its value, and the query string of the same search without it."""
    used = {name: value for name, value in chosen.items() if value}
    return [
        (name, value, urlencode({"q": query, **{other: kept for other, kept in used.items() if other != name}}))
        for name, value in used.items()
    ]


def _log(archive: Archive, chosen: Mapping[str, str], now: int) -> list[Hit]:
    """Return what was asked, the newest first."""
    wanted = LogRequest(chosen["since"] or None, True, chosen["session"], limit=_LIMIT)
    found = read_log(archive, wanted, now)
    return [Hit(one["ref"], PROMPT, (), None, one["timestamp"], 0, cut(one["text"], _CHARACTERS)) for one in found]


def _hits(
    archive: Archive, project: Project, chosen: Mapping[str, str], query: str, now: int, reader: Reader | None
) -> list[Hit]:
    session, since, tool, file, kind = (chosen[name] or None for name in ("session", "since", "tool", "file", "kind"))
    wanted = SearchRequest(query, _LIMIT, session, since, tool, file, kind)
    filters, also = filters_of(wanted, now), items_for_all(project.workspace) if project.workspace else []
    return search(archive, query, _LIMIT, session, now=now, filters=filters, reader=reader, also=also)

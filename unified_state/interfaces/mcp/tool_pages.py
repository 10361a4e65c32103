"""The pages in which the reading tools answer: no client truncates them."""

from __future__ import annotations

from typing import Any

from unified_state.interfaces.mcp.server_project import Project, visible_value
from unified_state.ledger.rules.short_item import sections_of
from unified_state.lib.excerpts import PAGE_TOKENS, Page, fields_that_fit, page_of_entries, page_of_texts
from unified_state.lib.record import disk_value
from unified_state.lib.times import current_time, to_text
from unified_state.model.item import STATE_SECTIONS
from unified_state.model.refs import ITEM, kind_of
from unified_state.model.session_state import STATE_VERSION, State
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.past.state_at import changes_between, history_of, state_at
from unified_state.state_file.manager import UnifiedStateManager

# The sections of the state in the order of their pages: rules first, verbatim text last, and then notes.
_ITEMS = sorted(STATE_SECTIONS, key=lambda section: (section != "constraints", section == "evidenceLedger"))


def state_page(project: Project, offset: int, at: str | None = None) -> dict[str, Any]:
    """Return a page of the state's items and notes, now or at a point. The first page also has the other fields."""
    workspace = project.reading()
    found = UnifiedStateManager(workspace=workspace).load_state() if at is None else _past(workspace, at)
    state: dict[str, Any] = visible_value(disk_value(found))
    state.update({section: state.get(section, []) for section in _ITEMS})
    notes = {name: state["summaries"].pop(name) for name in ("pendingActions", "contextHighlights")}
    items = [(section, entry) for section in _ITEMS for entry in state.pop(section)]
    items += [(name, {"text": text}) for name, texts in notes.items() for text in texts]
    head = {name: state.pop(name) for name in ("version", "timestamp", "trigger")}
    rest, left_out = fields_that_fit({} if offset else state, PAGE_TOKENS // 3)
    shown, page = page_of_entries([entry for _, entry in items], offset, PAGE_TOKENS * 2 // 3)
    sections: dict[str, list[Any]] = {section: [] for section in (*_ITEMS, *notes)}
    for (section, _), entry in zip(items[offset:], shown, strict=False):
        sections[section].append(entry["text"] if section in notes else entry)
    rest["summaries"] = {**rest.get("summaries", {}), **{name: sections.pop(name) for name in notes}}
    return {**head, **rest, **sections, **({"leftOut": left_out} if left_out else {}), **paged(page)}


def _past(workspace: Workspace, at: str) -> State:
    repository = workspace.place.repository
    found = workspace.use(lambda archive: state_at(archive, repository, at, current_time()))
    return State(version=STATE_VERSION, timestamp=to_text(found.point.at), trigger="manual", **sections_of(found.items))


def history_page(workspace: Workspace, first: str, last: str | None, offset: int) -> dict[str, Any]:
    """Return a page of what became of an item, or of the changes between two points."""
    repository = workspace.place.repository
    if kind_of(first) == ITEM:
        told = workspace.use(lambda archive: history_of(archive, first))
        events, page = page_of_entries(visible_value([event.as_json("turn", "quote") for event in told]), offset)
        return {"events": events, **paged(page)}
    found = workspace.use(lambda archive: changes_between(archive, repository, first, last, current_time()))
    value: dict[str, Any] = visible_value(found.as_json())
    events, page = page_of_entries(value["events"], offset)
    return {**value, "events": events, **paged(page)}


def turn_page(turn: dict[str, Any], ref: str, offset: int | None) -> dict[str, Any]:
    turn = visible_value(turn)
    refs = [step["ref"] for step in turn["steps"]]
    begin = refs.index(ref.upper()) if offset is None and ref.upper() in refs else offset or 0
    steps, page = page_of_entries(turn["steps"], begin)
    return {**turn, "steps": steps, **paged(page)}


def text_page(found: dict[str, Any], offset: int) -> dict[str, Any]:
    shown, page = page_of_texts(visible_value(found), offset)
    return {**shown, **paged(page)}


def paged(page: Page) -> dict[str, Any]:
    return {"page": page.as_dict()}

"""The pages in which the reading tools answer: no client truncates them."""

from __future__ import annotations

import os

from unified_state.interfaces.mcp.server_project import visible_value
from unified_state.lib.excerpts import PAGE_TOKENS, Page, fields_that_fit, page_of_entries, page_of_texts
from unified_state.lib.record import disk_value
from unified_state.memory.manager import UnifiedStateManager
from unified_state.model.item import STATE_SECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.interfaces.mcp.server_project import Project
    from unified_state.memory.workspace.workspace import Workspace

# The sections of the state in the order of their pages: rules first, verbatim text last.
_ITEMS = sorted(STATE_SECTIONS, key=lambda section: (section != "constraints", section == "evidenceLedger"))


def state_page(project: Project, offset: int) -> dict[str, Any]:
    """Return a page of the state's items. The first page also has the other fields."""
    state: dict[str, Any] = visible_value(disk_value(UnifiedStateManager(workspace=project.reading()).load_state()))
    items = [(section, entry) for section in _ITEMS for entry in state.pop(section)]
    head = {name: state.pop(name) for name in ("version", "timestamp", "trigger")}
    rest, left_out = fields_that_fit({} if offset else state, PAGE_TOKENS // 3)
    shown, page = page_of_entries([entry for _, entry in items], offset, PAGE_TOKENS * 2 // 3)
    sections: dict[str, list[Any]] = {section: [] for section in _ITEMS}
    for (section, _), entry in zip(items[offset:], shown, strict=False):
        sections[section].append(entry)
    return {**head, **rest, **sections, **({"leftOut": left_out} if left_out else {}), **paged(page)}


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


def blame_page(workspace: Workspace, file: str, lines: str | None, offset: int) -> dict[str, Any]:
    """Return a page of the groups of a file's lines, with the turns in it."""
    from unified_state.search.blame.blame_lines import blame, parse_lines  # rarely asked

    path = os.path.join(workspace.place.repository.worktree, file)
    found = visible_value(blame(workspace, path, parse_lines(lines) if lines else None).as_dict())
    groups, page = page_of_entries(found["lines"], offset, PAGE_TOKENS // 2)
    named = {group["turn"] for group in groups}
    turns, _ = page_of_entries([turn for turn in found["turns"] if turn["ref"] in named], 0, PAGE_TOKENS // 2)
    return {**found, "lines": groups, "turns": turns, **paged(page)}

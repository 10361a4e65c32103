"""The numbers of a JSON history, and the state for a person to read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from unified_state.records.record import Record
from unified_state.rules.composing import compose
from unified_state.services.health import health_line
from unified_state.services.json_tier.history import open_history
from unified_state.services.json_tier.reading import count_turns
from unified_state.services.json_tier.restoring import gather
from unified_state.storage.tiers.json_desk import SAVED

if TYPE_CHECKING:
    from unified_state.services.workspace import Workspace

_NO_LIMIT = 1_000_000


class JsonStatus(Record):
    """The numbers of one repository. Sizes are in bytes."""

    tier: str
    why: str
    repository: str
    worktree: str
    folder: str
    state_path: str
    bytes: int
    sessions: int
    turns: int
    steps: int
    compactions: int
    items: dict[str, dict[str, int]]
    saved_at: str | None
    health: str | None
    archive_not_shown: str | None = None


def json_status(workspace: Workspace, now: int) -> JsonStatus:
    """The status of a workspace without an archive."""
    history, place = open_history(workspace.place), workspace.place
    counts = history.store.counts()
    items: dict[str, dict[str, int]] = {}
    for item in history.store.items():
        states = items.setdefault(item.kind, {})
        states[item.status] = states.get(item.status, 0) + 1
    saved = history.desk.read()[SAVED].get(place.state_path)
    return JsonStatus(
        tier="json",
        why=workspace.no_archive or "",
        repository=place.id or "",
        worktree=place.repository.worktree,
        folder=history.files.folder,
        state_path=place.state_path,
        bytes=history.size(),
        sessions=counts.sessions,
        turns=count_turns(history),
        steps=counts.steps,
        compactions=counts.compactions,
        items=items,
        saved_at=saved["at"] if saved else None,
        health=health_line(place.folder, now),
        archive_not_shown=place.archive_path if os.path.exists(place.archive_path) else None,
    )


def json_banner(workspace: Workspace, now: int) -> str:
    """The state of a workspace as text."""
    known = gather(workspace, open_history(workspace.place), "", "startup", now)
    return compose(known, _NO_LIMIT, _NO_LIMIT).brief or "the state is empty"

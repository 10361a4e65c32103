"""How a program reads the ledger at an earlier time."""

from __future__ import annotations

from typing import Any

from unified_state.ledger.rules.short_item import short_form
from unified_state.lib.times import current_time
from unified_state.model.checked_calls import CheckedCalls
from unified_state.model.item import Entry
from unified_state.project.workspace.workspace import Workspace


class PastReader(CheckedCalls):
    """The methods of `UnifiedStateManager` that read earlier states. A point is a compaction ("K2"), a turn ("T41"), a
    time ("2026-03-14", "3d", "yesterday"), or a commit ("HEAD~3", "1a2b3c4").
    """

    _workspace: Workspace

    def entries_at(self, point: str) -> list[Entry]:
        """Return what held or waited at a point, as it was then, oldest first."""
        from unified_state.search.past.state_at import state_at  # not needed to record

        if self._workspace.is_empty:
            return []
        repository = self._workspace.place.repository
        found = self._workspace.use(lambda archive: state_at(archive, repository, point, current_time()))
        return [short_form(item) for item in found.items]

    def changes(self, first: str, last: str | None = None) -> list[dict[str, Any]]:
        """Return what was decided, answered, lifted, superseded or closed between two points, oldest first."""
        from unified_state.search.past.state_at import changes_between

        if self._workspace.is_empty:
            return []
        repository = self._workspace.place.repository
        found = self._workspace.use(lambda archive: changes_between(archive, repository, first, last, current_time()))
        return [event.as_json() for event in found.events]

    def history(self, item_id: str) -> list[dict[str, Any]]:
        """Return all that became of an item and of those that it replaced: when, by whom, in which turn."""
        from unified_state.search.past.state_at import history_of

        return [
            event.as_json("turn", "quote")
            for event in self._workspace.use(lambda archive: history_of(archive, item_id))
        ]

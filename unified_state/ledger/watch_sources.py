"""Notes the archived steps that may be the source of items, so that hooks load `find_sources` only when needed."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import selected_items
from unified_state.lib.times import CLOCK_SLACK, to_text
from unified_state.model.step import PROMPT, TOOL_CALL, TOOL_RESULT, Step

_MOST_ITEMS = 20
_POSSIBLE_SOURCES = (PROMPT, TOOL_CALL, TOOL_RESULT)


class SourceKeeper:
    """Collects the steps of one session as they are archived. `flush` links the items recorded since then to them."""

    def __init__(self, archive: Archive, session: int) -> None:
        self._archive = archive
        self._session = session
        self._since: int | None = None

    def note(self, step: Step) -> None:
        """Note an archived step."""
        if step.kind in _POSSIBLE_SOURCES and (self._since is None or step.at < self._since):
            self._since = step.at

    def flush(self) -> None:
        """Link the items whose source is now archived."""
        if self._since is None:
            return
        since, self._since = to_text(self._since - CLOCK_SLACK), None
        # The user's own items need no source. Captured ones and those of summaries have another.
        where = (
            "WHERE session_id = (SELECT session_id FROM session WHERE id = ?) AND created_at >= ? "
            "AND source_uuid IS NULL AND origin != 'user_said' AND rule IS NULL AND compaction IS NULL "
            "ORDER BY created_at DESC LIMIT ?"
        )
        items = selected_items(self._archive, where, self._session, since, _MOST_ITEMS)
        if items:
            from unified_state.ledger.find_sources import tie

            tie(self._archive, self._session, items)

"""Keeps watch, while steps are archived, for those from which items may have come; hooks load no more than this where
nothing was recorded.
"""

from __future__ import annotations

from unified_state.lib.times import CLOCK_SLACK, to_text
from unified_state.model.step import PROMPT, TOOL_CALL, TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Step

_POSSIBLE_SOURCES = (PROMPT, TOOL_CALL, TOOL_RESULT)


class SourceKeeper:
    """Is told of each step of one session as it is archived; `flush` ties the items that were recorded meanwhile."""

    def __init__(self, archive: Archive, session: int) -> None:
        self._archive = archive
        self._session = session
        self._since: int | None = None

    def note(self, step: Step) -> None:
        """A step was archived."""
        if step.kind in _POSSIBLE_SOURCES and (self._since is None or step.at < self._since):
            self._since = step.at

    def flush(self) -> None:
        """Tie what can be tied now."""
        if self._since is None:
            return
        since, self._since = to_text(self._since - CLOCK_SLACK), None
        row = self._archive.row(
            "SELECT session.session_id FROM session JOIN item ON item.session_id = session.session_id "
            "WHERE session.id = ? AND source_uuid IS NULL AND item.created_at >= ? AND origin != 'user_said' "
            "AND rule IS NULL AND compaction IS NULL LIMIT 1",
            self._session,
            since,
        )
        if row is not None:
            from unified_state.memory.ledger.find_sources import tie

            tie(self._archive, self._session, row[0], since)

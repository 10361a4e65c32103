"""Notes the archived steps that may be the source of items, so that hooks load `find_sources` only when needed."""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.lib.times import CLOCK_SLACK, to_text
from unified_state.model.step import PROMPT, TOOL_CALL, TOOL_RESULT, Step

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
        row = self._archive.row(
            "SELECT session.session_id FROM session JOIN item ON item.session_id = session.session_id "
            "WHERE session.id = ? AND source_uuid IS NULL AND item.created_at >= ? AND origin != 'user_said' "
            "AND rule IS NULL AND compaction IS NULL LIMIT 1",
            self._session,
            since,
        )
        if row is not None:
            from unified_state.ledger.find_sources import tie

            tie(self._archive, self._session, row[0], since)

"""Rewinding: what a session said in a part of the conversation that its user took back is known as such.

After a rewind the transcript simply goes on: its next prompt stands behind an entry behind which there was a prompt
already, or behind an answer of an earlier turn. Nothing else tells of it. What was archived stays; only the times are
kept between which it does not count any more.
"""

from __future__ import annotations

from unified_state.memory.archive.rewinds import has_later_turn, keep_continuation_of, keep_rewind, place_of_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.step import Continuation


def keep_continuation(archive: Archive, session: int, found: Continuation) -> None:
    """A prompt stands in the transcript: keep what it took back. Call it before the prompt is archived; one that is
    archived already took nothing back.
    """
    first = keep_continuation_of(archive, session, found.parent or "", found.at)
    if place_of_entry(archive, found.uuid) is not None:
        return
    parent = place_of_entry(archive, found.parent) if found.parent else None
    if parent is not None and has_later_turn(archive, session, parent.turn):
        keep_rewind(archive, session, parent.at, found.at)
    elif first < found.at:
        keep_rewind(archive, session, first - 1, found.at)

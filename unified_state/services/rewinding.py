"""Rewinding: what a session said in a part of the conversation that its user took back is known as such.

After a rewind the transcript goes on: the next prompt's parent is not the newest entry but one of an earlier turn.
Nothing else tells of it. What was archived stays; only the times are kept between which it does not count any more.
"""

from __future__ import annotations

from unified_state.sources.transcript import ancestors
from unified_state.storage.rewinds import EntryPlace, has_later_turn, keep_rewind, place_of_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.step import Continuation
    from unified_state.storage.archive import Archive


def keep_continuation(archive: Archive, session: int, found: Continuation, path: str, end: int) -> None:
    """A prompt stands in the transcript, in front of `end`: keep what it took back. Call it before the prompt is
    archived; of one that is archived already nothing is to be learned.
    """
    if place_of_entry(archive, found.uuid) is not None:
        return
    place = _place(archive, found.parent, path, end)
    if place is not None and has_later_turn(archive, session, place.turn):
        keep_rewind(archive, session, place.at, found.at)


def _place(archive: Archive, parent: str | None, path: str, end: int) -> EntryPlace | None:
    """The last archived entry that stands before a prompt in its conversation; None where that cannot be told."""
    if parent is None:
        return EntryPlace(turn=0, at=0)
    known = place_of_entry(archive, parent)
    if known is None:
        places = (place_of_entry(archive, uuid) for uuid in ancestors(path, parent, end))
        known = next(filter(None, places), None)
    return known

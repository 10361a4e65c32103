"""What a transcript tells beside the steps: compactions, their summaries, what of ours arrived, where prompts go on."""

from __future__ import annotations

from unified_state.records.step import Boundary, Continuation, Delivery, Summary
from unified_state.services.rewinding import keep_continuation
from unified_state.storage.compactions import keep_boundary, keep_transcript_summary, mark_delivered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.storage.archive import Archive
    from unified_state.storage.sessions import Cursor

    Fact = Boundary | Summary | Delivery | Continuation


def keep_fact(archive: Archive, cursor: Cursor, found: Fact, end: int, now: int) -> None:
    """Keep one of them, found in front of the byte offset `end`, within the transaction that archives the steps."""
    match found:
        case Boundary():
            keep_boundary(archive, cursor.session, found)
        case Summary():
            keep_transcript_summary(archive, cursor.session, found)
        case Delivery():
            mark_delivered(archive, found.nonces, now)
        case Continuation():
            keep_continuation(archive, cursor.session, found, cursor.path, end)

"""What a transcript tells beside the steps: compactions, their summaries, what of ours arrived, where prompts go on;
and how the transcripts of each host are read.
"""

from __future__ import annotations

from unified_state.agents.transcripts.claude_code import read_entry
from unified_state.memory.archive.compactions import keep_boundary, keep_transcript_summary, mark_delivered
from unified_state.memory.archive.rewinds import keep_continuation
from unified_state.model.hook_event import HOST_MARK
from unified_state.model.step import Boundary, Continuation, Delivery, Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.agents.transcripts.transcript_lines import Read
    from unified_state.memory.archive.archive import Archive

    Fact = Boundary | Summary | Delivery | Continuation


def reader_of(session_id: str) -> Read:
    """How the entries of a session's transcript are read: the id of another host's session names the host."""
    if HOST_MARK not in session_id:
        return read_entry
    from unified_state.agents.transcripts.transcript_readers import host_reader

    return host_reader(session_id)


def keep_fact(archive: Archive, session: int, found: Fact, now: int) -> None:
    """Keep one of them, within the transaction that archives the steps."""
    match found:
        case Boundary():
            keep_boundary(archive, session, found)
        case Summary():
            compaction = keep_transcript_summary(archive, session, found)
            if compaction is not None:  # no hook told of it: it is read here, late
                from unified_state.capture.take_summary import take_in

                take_in(archive, compaction, found.text, now)
        case Delivery():
            mark_delivered(archive, found.nonces, now)
        case Continuation():
            keep_continuation(archive, session, found)

"""Note at the end of a turn whether anything is to be added to the session's next prompt (see `pending_messages`)."""

from __future__ import annotations

import time

from unified_state.interfaces.hooks.user_prompt_submit import TURNS_TOO_LATE
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.compactions import latest_compaction
from unified_state.memory.archive.pending_messages import write_mark
from unified_state.memory.archive.sessions import session_number, turns_since, waiting_for_prompt
from unified_state.memory.spool.hook_files import archive_stamp
from unified_state.restore.tried_before import names_of_attempts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.interfaces.hooks.hook_call import HookCall

_SETTLED = 20_000_000  # nanoseconds; file systems keep times in steps of a few milliseconds
_SECONDS = 1.0


def note_quiet(call: HookCall) -> None:
    """Write the mark of a session if its next prompt gets no addition. Call it with the archive closed.

    The stamp is read before and after the look at the archive. If both are the same, no other process committed
    meanwhile, and the mark is true.
    """
    event, place = call.event, call.workspace.place
    if not event.session_id or event.agent_id or call.workspace.journal is not None:
        return
    stamp = settled_stamp(place.archive_path)
    with Archive(place.archive_path, seconds=_SECONDS) as archive:
        names = _names_if_quiet(archive, event.session_id, call.now)
    if names is not None and stamp is not None and stamp == archive_stamp(place.archive_path):
        write_mark(place, event.session_id, stamp, *names)


def settled_stamp(path: str) -> list[int] | None:
    """Return the stamp of an archive, once a later commit would have another time."""
    stamp = archive_stamp(path)
    if stamp is not None:
        _, _, changed, _, logged = stamp
        time.sleep(max(0, min(_SETTLED, max(changed, logged) + _SETTLED - time.time_ns())) / 1e9)
    return archive_stamp(path)


def _names_if_quiet(archive: Archive, session_id: str, now: int) -> tuple[list[str], list[str]] | None:
    """Return the names and words that a prompt must not contain to stay without an addition; None if it may get
    another one.
    """
    session = session_number(archive, session_id)
    if session is None:
        return None
    compaction = latest_compaction(archive, session)
    if compaction is not None:
        began = compaction.boundary_at or compaction.started_at  # a user may have stopped it
        if turns_since(archive, session, began) <= TURNS_TOO_LATE:
            return None
    has_news, has_attempts, has_line = waiting_for_prompt(archive, session)
    if has_news or has_line:
        return None
    return names_of_attempts(archive, now) if has_attempts else ([], [])

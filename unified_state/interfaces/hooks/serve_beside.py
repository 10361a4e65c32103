"""Serve a hook whose archive cannot be used: from a journal in its place, or by storing the event for later.

If the journal does not know a transcript, only its end is read, because the archive knows the rest.
"""

from __future__ import annotations

import os

from unified_state.errors import TierError
from unified_state.lib.stdlib import NO_SQLITE, open_regular
from unified_state.memory.archive.sessions import Cursor, move_cursor, read_cursor, touch_session
from unified_state.memory.journal.journal import EVENTS, Journal
from unified_state.memory.journal.journal_places import writable_journal
from unified_state.model.hook_event import BRIEF
from unified_state.model.step import PROMPT, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.errors import UnifiedStateError
    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.hook_event import HookEvent


_TAIL_BYTES = 1 << 20


def serve_beside(call: HookCall, error: UnifiedStateError, answer: Callable[[Archive], str]) -> str:
    """Return the output of a hook's handler from a journal. Without SQLite its event is stored for later.

    Raises the given error if the history already is a journal.
    """
    if isinstance(error, TierError):
        return keep_for_later(call)
    if call.workspace.journal is not None:
        raise error
    beside = call.workspace = call.workspace.stand_in(error.message)

    def served(archive: Archive) -> str:
        _begin_near_end(archive, call.event, call.now)
        return answer(archive)

    return beside.use(served)


def _begin_near_end(archive: Archive, event: HookEvent, now: int) -> None:
    """Start reading a transcript that is unknown here near its end."""
    path = event.transcript_path
    if not path or not event.session_id or not os.path.isfile(path) or read_cursor(archive, path) is not None:
        return
    with open_regular(path) as file:
        found = os.fstat(file.fileno())
        offset = max(0, found.st_size - _TAIL_BYTES)
        if offset:
            file.seek(offset)
            file.readline(_TAIL_BYTES)
            offset = file.tell()
    with archive.transaction(durable=False):
        session = touch_session(archive, event.session_id, now)
        move_cursor(archive, Cursor(path, session, None, offset, found.st_ino & ((1 << 63) - 1), None))


_LOCK_SECONDS = 4.0
_MESSAGES = {"prompt": PROMPT, "last_assistant_message": TEXT}  # an event has one of them
_TOLD = f"[HEALTH] {NO_SQLITE}: turns are only noted, and archived later; `unified-state install` looks for another one"


def keep_for_later(call: HookCall) -> str:
    """Store the event durably, and return the text for the client."""
    event = call.event
    if not event.session_id or event.agent_id:
        return ""
    name = next(filter(event.text, _MESSAGES), "")
    told = {
        "session": event.session_id,
        "transcript": event.transcript_path or "",
        "worktree": call.workspace.place.repository.worktree,
        "pid": call.pid,
        "at": call.now,
        "kind": _MESSAGES.get(name, ""),
        "text": call.workspace.masker.typed(event.text(name)) if name and event.agent_type != "" else "",
    }
    with Journal(writable_journal(call.workspace.place), _LOCK_SECONDS, EVENTS) as journal:
        journal.append([told], durable=True)
    return _TOLD if event.hook_event_name == "SessionStart" and call.part in ("", BRIEF) else ""

"""Keep what the next session's start would print in a file, from the last Stop on (see `hook_start`).

It is true while the archive, the transcripts and the files that were looked at are as they were. SessionEnd commits to
the archive, so it renews the file where it added nothing. Invariant: the file is written while no other process can
commit, as in `keep_ready`.
"""

from __future__ import annotations

import os
import time

from unified_state.agents.transcripts.transcript_lines import session_folder
from unified_state.capture.capture_transcript import INODE_BITS
from unified_state.interfaces.hooks.find_health import is_among_first, present_health
from unified_state.interfaces.hooks.keep_ready import files_of
from unified_state.lib.files import make_room, write_note
from unified_state.lib.stdlib import SMALL_FILE, dump_json, parse_object, read_regular
from unified_state.memory.archive.compactions import Restore, keep_restore
from unified_state.memory.archive.pending_messages import sessions_with_pending
from unified_state.memory.archive.sessions import newest_session, recent_transcripts, session_number
from unified_state.memory.repository.place import has_reminders, home_of, may_have_journals, way_now
from unified_state.memory.spool.ready_file import adds_nothing, archive_version, starts_path, starts_way_path
from unified_state.model.hook_event import BRIEF, HOST_MARK
from unified_state.restore.ready_restore import ready_starts
from unified_state.restore.restore_table import last_news

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from unified_state.interfaces.hooks.hook_call import HookCall
    from unified_state.memory.archive.archive import Archive

_LATE = 0.1  # seconds; the client writes its transcript about 100 ms after the hook began
_TRIES = 3
_MOST_SESSIONS = 20  # whose transcripts a session start reads
_BESIDE = ("subagents", "tool-results")  # folders of a session
_SEEN = "PRAGMA data_version"
_PID = "CLAUDE_PID"


def keep_starts(call: HookCall, archive: Archive) -> None:
    """Write what a start of a session would print now. Call it when the client has gone on."""
    if not _may_be_ready(call) or _way(call, archive, ()) is None:
        return
    if _lacks_answer(call, archive):
        return
    place, path = call.workspace.place, starts_path(call.workspace.place.folder, call.event.cwd)
    session = session_number(archive, call.event.session_id)
    if session is None or newest_session(archive, call.now) != session or present_health(call, archive) is not None:
        return
    looked_at: Sequence[str] = _looked_at_before(path)
    for _ in range(_TRIES):  # the first turn of a repository finds out which files to look at
        before = _look(call, archive, looked_at)
        if before is None:
            return
        starts, found = ready_starts(archive, place, call.settings, session, call.now)
        kept = {**before, "starts": starts, "lookedAt": found}
        if set(found) <= set(looked_at) and _write(call, archive, kept):
            return
        looked_at = found


def _lacks_answer(call: HookCall, archive: Archive) -> bool:
    """Return whether the transcript still lacks the turn's last message after a moment: a later hook archives it."""
    for _ in range(_TRIES):
        if not sessions_with_pending(archive):
            return False
        time.sleep(_LATE)
        call.capture(archive)
    return bool(sessions_with_pending(archive))


def _looked_at_before(path: str) -> list[str]:
    """Return the files of the worktree that the last composition looked at."""
    before = _kept(path).get("lookedAt")
    return before if isinstance(before, list) and all(isinstance(one, str) for one in before) else []


def _may_be_ready(call: HookCall) -> bool:
    """Return whether the next start may have nothing else to do than to print its text."""
    event, place = call.event, call.workspace.place
    is_ours = event.session_id and not event.agent_id and not event.is_foreign and HOST_MARK not in event.session_id
    return bool(
        is_ours
        and event.transcript_path
        and call.workspace.journal is None
        and starts_way_path(call.settings.data_dir, event.cwd)
        and not has_reminders(place)
        and not may_have_journals(place)
    )


def _look(call: HookCall, archive: Archive, looked_at: Sequence[str]) -> dict[str, Any] | None:
    """Return what the texts are made from, as it is before they are composed; None where a start has more to do."""
    way = _way(call, archive, looked_at)
    transcripts = _transcripts(archive)
    if way is None or transcripts is None:
        return None
    event = call.event
    return {
        **way,
        "session": event.session_id,
        "transcript": event.transcript_path,
        "transcripts": transcripts,
        "ended": "",
        "pid": call.environ.get(_PID, ""),
        "news": last_news(archive),
        "seen": archive.value(_SEEN),
    }


def _way(call: HookCall, archive: Archive, looked_at: Sequence[str]) -> dict[str, Any] | None:
    """Return the way to the archive with all files that a start looks at."""
    place, data_dir = call.workspace.place, call.settings.data_dir
    folders = [
        session_folder(cursor.path) for cursor, _ in recent_transcripts(archive, _MOST_SESSIONS) if not cursor.agent
    ]
    files = (
        *files_of(place),
        os.path.join(place.repository.git_dir or "", "logs", "HEAD"),  # which commits were visited
        *((home_of(data_dir, ""),) if is_among_first(archive) else ()),  # it may name another archive
        *(os.path.join(folder, name) for folder in folders for name in _BESIDE),
        *looked_at,
    )
    return way_now(place, call.event.cwd, data_dir, files)


def _transcripts(archive: Archive) -> list[tuple[str, int | None, int]] | None:
    """Return the transcripts that a start reads, each with its inode and the end of what is archived; None if one has
    more than that.
    """
    found = []
    for cursor, _ in recent_transcripts(archive, _MOST_SESSIONS):
        inode = os.stat(cursor.path).st_ino if os.path.exists(cursor.path) else None
        is_same = inode is None or cursor.inode is None or cursor.inode == inode & INODE_BITS
        read = (cursor.path, inode, cursor.offset)
        if not is_same or not _adds_nothing(read):
            return None
        found.append(read)
    return found


def _adds_nothing(read: Iterable[Any]) -> bool:
    try:
        return adds_nothing(*read)
    except (OSError, ValueError, TypeError, KeyError):  # it cannot be read, or is another host's
        return False


def _write(call: HookCall, archive: Archive, kept: dict[str, Any]) -> bool:
    """Write the file with the present version of the archive, and the file that names its folder. Return False if
    another process has committed since `kept` was made.
    """
    place, cwd = call.workspace.place, call.event.cwd
    path = starts_path(place.folder, cwd)
    if not os.path.exists(path):
        make_room(os.path.dirname(path))
    seen = kept.pop("seen")
    with archive.transaction(durable=False):
        if seen != archive.value(_SEEN):
            return False
        content = dump_json({**kept, "version": archive_version(place.archive_path)})
        write_note(path, content.encode("utf-8", "surrogatepass"))
    way, named = starts_way_path(call.settings.data_dir, cwd), {"cwd": cwd, "folder": place.folder}
    if _kept(way) != named:
        make_room(os.path.dirname(way))
        write_note(way, dump_json(named).encode("utf-8", "surrogatepass"))
    return True


def _kept(path: str) -> dict[str, Any]:
    """Return the content of one of the files; {} if it has none."""
    try:
        return parse_object(read_regular(path, SMALL_FILE), "surrogatepass") or {}
    except OSError:
        return {}


def starts_before_end(call: HookCall, archive: Archive) -> dict[str, Any] | None:
    """Return what this session's last Stop kept, if nothing was committed to the archive since then, nor waits."""
    place = call.workspace.place
    kept = _kept(starts_path(place.folder, call.event.cwd))
    if not kept or kept.get("session") != call.event.session_id or sessions_with_pending(archive):
        return None
    if not isinstance(kept.get("transcripts"), list) or kept.get("version") != archive_version(place.archive_path):
        return None
    return {**kept, "seen": archive.value(_SEEN)}


def renew_starts(call: HookCall, archive: Archive, kept: dict[str, Any]) -> None:
    """Write again what Stop kept, after the session's end was committed, if nothing else was archived with it."""
    if all(map(_adds_nothing, kept["transcripts"])):
        _write(call, archive, {**kept, "ended": call.event.text("reason"), "pid": call.environ.get(_PID, "")})


def record_printed(call: HookCall, archive: Archive) -> None:
    """Record the text that a new session got already, with its nonce. Whoever forgets a text removes the file in their
    transaction, and what was in it is recorded no more.
    """
    printed, path = call.printed or {}, starts_path(call.workspace.place.folder, call.event.cwd)
    body = printed["texts"][BRIEF].partition("\n")[2].rpartition("\n")[0]  # without its fence
    with archive.transaction(durable=False):
        if body and _kept(path).get("version") == printed["version"]:
            restore = Restore(printed["nonce"], call.session(archive), None, BRIEF, call.now, None, body)
            keep_restore(archive, restore)

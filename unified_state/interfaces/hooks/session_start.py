"""SessionStart and SessionEnd: archive what a killed client left, restore the session's memory, record its end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from sqlite3 import OperationalError
from time import sleep
from typing import TYPE_CHECKING

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import begin_compaction, latest_compaction, restores_of
from unified_state.archive.pending_messages import settle_messages
from unified_state.archive.sessions import (
    cleared_by,
    count_sessions,
    end_session,
    newest_session,
    session_answered_at,
    session_id_of,
    session_number,
)
from unified_state.archive.steps import last_entry_at
from unified_state.constraints.constraint_table import ever_enforced, has_hook
from unified_state.hosts.transcripts.rules.hosts import title_of_host
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.interfaces.tool_hook import DeadlineError, use_rest_of_time
from unified_state.ledger.waiting_notes import TOLD_OF_FILE, waits_from_file
from unified_state.lib.files import remove_old_leftovers
from unified_state.model.hook_event import BRIEF, CALLS_EVENT, WORKING_SET
from unified_state.project.health import health_line
from unified_state.project.place import drop_project
from unified_state.state_file.state_file import has_foreign_file

if TYPE_CHECKING:
    from unified_state.model.known import Reason, RestoreInput

_ANSWER_SLACK = 3_000  # tolerance in milliseconds for a late hook
_HALF_A_SECOND = 500  # in milliseconds; the client counts whole seconds
_LOOKS, _LOOK_MS = 20, 50
_STEPS = 1_000_000  # of a query, between two moments at which the alarm may interrupt it; they take about 30 ms
_INTERRUPTED = 9  # SQLite's code
_FIRST_SESSIONS = 3  # of an archive: they are shown other archives that may be meant
_OUT_OF_TIME = "not everything could be read in time; `unified-state preview --startup` shows the whole state"


def on_session_start(call: HookCall, archive: Archive) -> str:
    """Return the text for one of the two handlers (`call.part`). The brief's handler also archives the rest first."""
    if call.event.agent_id:
        return ""
    reason = _reason(call)
    if call.part == WORKING_SET and reason != "compact" and not _is_whole_clear(call, reason):
        return ""
    known_before = session_number(archive, call.event.session_id)
    last_entry = None if known_before is None else last_entry_at(archive, known_before)
    health = _tidied(call, archive) if call.part == BRIEF else None
    source = _source(call, archive, reason, known_before)
    predecessor = source if reason in {"clear", "fork"} else None
    handed_over = _handed_over(call, archive) if reason == "startup" and call.part == BRIEF else None
    source = handed_over[0] if handed_over else source
    session = call.register(archive, predecessor, knows_news=call.part == BRIEF)
    if reason == "compact":
        _begin_compaction(call, archive, session)
    from unified_state.restore.compose_restore import gather_in_stages  # one of the two handlers often has no text

    since = last_entry if source == known_before or source is None else last_entry_at(archive, source)
    with_turns = handed_over is not None or _is_whole_clear(call, reason)
    stages = gather_in_stages(
        archive, call.workspace.place, source, reason, call.now, since=since, with_turns=with_turns
    )
    known = _gathered_in_time(call, archive, stages)
    known = known.replace(health=known.health or health, handed_over=handed_over[1] if handed_over else "")
    text = _composed(call, archive, session, known)
    if call.part == BRIEF and reason != "compact":  # then the user sees one line, on what the summary lost
        _tell_waiting(call, archive)
    return text


def _gathered_in_time(call: HookCall, archive: Archive, stages: Iterable[RestoreInput]) -> RestoreInput:
    """Return what was gathered until the time was up. Raises DeadlineError if that is nothing.

    The progress handler lets the alarm interrupt a query, which then fails.
    """
    known = None
    archive.connection.set_progress_handler(lambda: 0, _STEPS)
    try:
        for stage in stages:
            known = stage
    except (DeadlineError, OperationalError) as error:
        if known is None or getattr(error, "sqlite_errorcode", _INTERRUPTED) != _INTERRUPTED:
            raise
        known = known.replace(health=_cut_short(call))
    finally:
        archive.connection.set_progress_handler(None, 0)
    assert known is not None  # noqa: S101  # there is a first stage
    return known


def _cut_short(call: HookCall) -> str:
    """Report that the time is up, and return that line. What follows has the rest of the time."""
    use_rest_of_time()
    call.workspace.report(_OUT_OF_TIME)
    return _OUT_OF_TIME


def _begin_compaction(call: HookCall, archive: Archive, session: int) -> None:
    """Record a compaction that no hook recorded before."""
    if not _is_known(archive, session, call.part):
        with archive.transaction(durable=False):
            begin_compaction(archive, session, call.now)


def _tell_waiting(call: HookCall, archive: Archive) -> None:
    """Add the lines on what waits for the user to their message, once for a state file and for each item."""
    if archive.meta(TOLD_OF_FILE) is None:
        place = call.workspace.place
        if has_foreign_file(place) or waits_from_file(archive):
            from unified_state.state_file.writer.foreign_file import tell_of_file  # once in the life of an archive

            line = tell_of_file(archive, call.workspace, call.now)
            call.message = "\n".join(filter(None, (call.message, line)))
    if archive.value("SELECT 1 FROM item WHERE status = 'proposed' LIMIT 1"):
        from unified_state.restore.tell_inbox import tell_waiting  # in most sessions nothing waits

        call.message = "\n".join(filter(None, (call.message, tell_waiting(archive))))


def _is_whole_clear(call: HookCall, reason: Reason) -> bool:
    """Return whether a /clear gets all that a compaction gets: the user enabled that."""
    return reason == "clear" and call.settings.restore_on_clear == "full"


def _tidied(call: HookCall, archive: Archive) -> str | None:
    """Tidy as long as there is time, and return the health of the archive."""
    try:
        return _tidy(call, archive)
    except DeadlineError:
        return _cut_short(call)


def _tidy(call: HookCall, archive: Archive) -> str | None:
    """Remove what killed processes left, archive the rest, and return the health of the archive."""
    health = _find_health(call, archive)
    remove_old_leftovers(call.workspace.place.folder, call.now)
    call.capture(archive)
    call.capturer(archive).catch_up()
    return health


def _find_health(call: HookCall, archive: Archive) -> str | None:
    """Return the health of the archive for a person, one problem on each line, or None.

    It also updates the enforcement of constraints and the record of this checkout.
    """
    from unified_state.project.identity import remember  # a turn's end records no checkout

    place = call.workspace.place
    remember(place.repository, place.folder)
    lines = [_unjoined_line(call, archive)]
    if ever_enforced(archive, place.folder) or has_hook(place):
        from unified_state.constraints.compile_constraints import (
            check_in_place,  # other repositories have nothing to check
        )

        lines.append(check_in_place(archive, call.workspace))
    return "\n".join(filter(None, [*lines, health_line(place.folder, call.now)])) or None


def _unjoined_line(call: HookCall, archive: Archive) -> str | None:
    """Return a line for the first sessions of a new archive if another archive may be meant."""
    if count_sessions(archive) >= _FIRST_SESSIONS:
        return None
    from unified_state.project.workspace.link import unjoined_line  # few sessions have another archive as a candidate

    return unjoined_line(call.workspace.place, call.settings.data_dir)


def _composed(call: HookCall, archive: Archive, session: int, known: RestoreInput) -> str:
    """Return the part, composed now, and set the line for the user."""
    from unified_state.restore.compose_restore import restored_text, with_enforcement
    from unified_state.restore.fenced_text import fence_and_remember

    known = with_enforcement(known, is_enforced=call.is_enforced)
    texts = restored_text(known, call.settings).as_dict()
    text = texts[call.part]
    if call.part == WORKING_SET and text and texts[BRIEF]:
        _let_state_go_first(call, archive, session)
    if call.part == BRIEF and known.survival is not None:
        from unified_state.restore.note_survival import note_restored  # only if a summary was judged

        call.message = note_restored(archive, known, "\n".join(filter(None, texts.values())))
    return fence_and_remember(archive, session, call.part, text, call.now, known.compaction) if text else ""


def _let_state_go_first(call: HookCall, archive: Archive, session: int) -> None:
    """Wait a second at most for the other handler: the client orders the two texts as they come."""
    query = "SELECT 1 FROM restore WHERE session = ? AND part = ? AND at > ?"
    for _ in range(_LOOKS):
        if archive.value(query, session, BRIEF, call.now - _ANSWER_SLACK):
            break
        sleep(_LOOK_MS / 1000)
    sleep(_LOOK_MS / 1000)  # until that text is out


def _is_known(archive: Archive, session: int, part: str) -> bool:
    """Return whether the transcript reported this compaction before its hook did: a closed one without this part."""
    latest = latest_compaction(archive, session)
    return (
        latest is not None
        and latest.boundary_uuid is not None
        and all(restore.part != part for restore in restores_of(archive, latest.id))
    )


def on_session_end(call: HookCall, archive: Archive) -> str:
    """Archive as much as time allows and record why the session ended. An ending client kills a running Stop hook."""
    call.capture(archive)
    if call.event.transcript_path and not os.path.exists(call.event.transcript_path):
        settle_messages(archive, call.event.session_id, call.now, waits=False)
        from unified_state.hosts.install.claude_settings import settings_run  # few clients keep no transcript

        if not settings_run(CALLS_EVENT, call.workspace.place.repository.worktree, call.environ):
            call.workspace.report(
                "Claude Code kept no transcript (--no-session-persistence): only prompts and last answers are archived"
                ", and tool calls after `unified-state install --tool-calls`"
            )
    if call.settings.context_autopilot:
        from unified_state.interfaces.hooks.stop import watch_context

        watch_context(call, archive)
    with archive.transaction(durable=False):
        end_session(archive, call.session(archive), call.now, call.event.text("reason") or "other")
    drop_project(call.event.session_id, call.settings.data_dir)
    return ""


def _reason(call: HookCall) -> Reason:
    source = call.event.text("source")
    match source:
        case "compact" | "clear" | "resume" | "fork":
            return source
        case _:
            return "startup"


def _source(call: HookCall, archive: Archive, reason: Reason, session: int | None) -> int | None:
    """Return the session whose memory is restored.

    After /clear that is the session before it, in a fork the one with an answer at the right time, and in a new session
    the newest one.
    """
    if reason in {"compact", "resume"} and session is not None:
        return session
    if reason == "clear":
        before = cleared_by(archive, call.pid)
        if before is not None:
            return session_number(archive, before)
    if reason == "fork":
        parent = _answered_at(archive, call)
        if parent is not None:
            return parent
    return newest_session(archive, call.now, besides=call.event.session_id)


def _handed_over(call: HookCall, archive: Archive) -> tuple[int, str] | None:
    """Return the newest session and its name if another host ran it: this host cannot resume it."""
    newest = newest_session(archive, call.now, besides=call.event.session_id)
    session_id = session_id_of(archive, newest)
    if newest is None or session_id is None or title_of_host(session_id) == title_of_host(call.event.session_id):
        return None
    return newest, f"{title_of_host(session_id)} ({session_id})"


def _answered_at(archive: Archive, call: HookCall) -> int | None:
    """Return the parent of a fork. The client does not name it, only the number of seconds since its last answer."""
    seconds = call.event.extra.get("seconds_since_last_response")
    if not isinstance(seconds, int | float):
        return None
    return session_answered_at(archive, round(call.now - seconds * 1000 - _HALF_A_SECOND), _ANSWER_SLACK)

"""Stop and SubagentStop: archive the rest of the turn, and the last message, which the transcript may not contain yet.
PostToolBatch: archive the calls of a client that writes no transcript.

The client writes its transcript in batches, about 100 ms late, so at Stop the newest entries may be missing. Only the
last message can be lost with the client. The client does not wait for this work (see `gate.sh`, and `Call` of the SDK).
If it is killed, the next hook archives the rest.
"""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import latest_compaction
from unified_state.archive.pending_messages import settle_messages
from unified_state.archive.sessions import read_cursor, session_number, waiting_for_prompt
from unified_state.context.context_table import keep_watched, phase_reached
from unified_state.context.read_context import newest_reading, watched_now
from unified_state.context.rules.context_phase import told_line
from unified_state.extension import hook
from unified_state.hosts.generation import drop_quiet, note_quiet
from unified_state.interfaces.hooks.hook_call import HookCall
from unified_state.model.hook_event import HOST_MARK
from unified_state.model.step import TEXT
from unified_state.project.health import newest_problem
from unified_state.settings import default_data_dir


def on_stop(call: HookCall, archive: Archive) -> str:
    """Store the message that ended the turn, and archive to the turn's end in the background."""
    call.keep(archive, TEXT, call.event.text("last_assistant_message"))
    if call.settings.postgres_enabled and call.settings.sync_in_background and (start_sync := hook("START_SYNC")):
        worktree = call.workspace.place.repository.worktree
        start_sync(archive, worktree, call.environ, call.now)  # a client that ends would kill this hook first
    call.capture(archive)
    if call.settings.context_autopilot:
        watch_context(call, archive)
    return ""


def on_subagent_stop(call: HookCall, archive: Archive) -> str:
    """Archive a subagent under its parent. An empty agent type is the compaction itself, with the summary."""
    if call.event.agent_type == "":
        from unified_state.interfaces.hooks.pre_compact import (
            on_summary,
        )  # loads git, which other Stop hooks do not need

        return on_summary(call, archive)
    path = call.event.text("agent_transcript_path")
    if path and call.event.session_id:
        call.capturer(archive).transcript(path, call.event.session_id, call.event.agent_id or "subagent")
    return ""


def on_tool_batch(call: HookCall, archive: Archive) -> str:
    """Archive what was said and called so far in a session without a transcript. By now a client has written one."""
    event, calls = call.event, call.event.extra.get("tool_calls")
    if event.agent_id or not event.session_id or not isinstance(calls, list) or os.path.exists(event.transcript_path):
        return ""
    from unified_state.hosts.transcripts.claude_code import entries_of_calls

    settle_messages(archive, event.session_id, call.now, waits=False)
    call.capturer(archive).messages(entries_of_calls(calls, call.now), event.session_id)
    return ""


def watch_context(call: HookCall, archive: Archive) -> None:
    """Record how full the context is after a turn, and act on its phase."""
    event, place = call.event, call.workspace.place
    session = session_number(archive, event.session_id)
    if session is None or event.agent_id:
        return
    reading = newest_reading(archive, session, place.folder, event.session_id, event.transcript_path)
    if reading is None:
        return
    watched = watched_now(archive, session, reading, call.settings, place.repository.worktree, call.environ)
    line = None
    if watched.reached != phase_reached(archive, session, watched.cycle):
        _checkpoint(call, archive)
        line = told_line(reading, watched.limit.tokens)
    with archive.transaction(durable=False):
        keep_watched(archive, session, watched, line)


def _checkpoint(call: HookCall, archive: Archive) -> None:
    """Save the state with git, as before a compaction."""
    from unified_state.interfaces.hooks.pre_compact import save_checkpoint
    from unified_state.project.git_state import read_git

    save_checkpoint(call, archive, "threshold", read_git(call.workspace.place.repository.worktree, call.environ))


def note_if_quiet(call: HookCall, archive: Archive) -> None:
    """Write the session's note if its turns are archived and its next prompt needs no addition.

    No other process commits meanwhile: whoever does so afterwards ends the generation.
    """
    event, place = call.event, call.workspace.place
    if event.agent_id or event.is_foreign or HOST_MARK in event.session_id:
        return
    for data_dir in {call.settings.data_dir, default_data_dir()}:
        drop_quiet(data_dir, event.session_id)
    if not place.is_settled or newest_problem(place.folder) is not None or not call.moment.has_time():
        return
    with archive.transaction(durable=False):
        if _is_quiet(call, archive):
            note_quiet(place.folder, call.settings.data_dir, event.session_id)


def _is_quiet(call: HookCall, archive: Archive) -> bool:
    session, path = session_number(archive, call.event.session_id), call.event.transcript_path
    if session is None or read_cursor(archive, path) is None or not os.path.isfile(path):
        return False
    if latest_compaction(archive, session) is not None:
        return False  # each prompt after it gets what the archive knows about it
    has_news, has_line = waiting_for_prompt(archive, session)
    return not (has_news or has_line)

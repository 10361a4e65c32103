"""The events of a client, served over a JSON history.

Every turn is archived, the state is saved before a compaction and given back after it. What needs the archive's tables
is left out: what was captured from turns, the working set, constraints that are enforced, the survival of items.
"""

from __future__ import annotations

import time

from unified_state.records.history import StoredSession
from unified_state.records.restore import BRIEF
from unified_state.records.step import PROMPT, TEXT
from unified_state.rules.steering import keep_list
from unified_state.services.hook_compaction import refuse_if_asked, summary_part
from unified_state.services.json_tier.capturing import JsonCapture
from unified_state.services.json_tier.history import open_history
from unified_state.services.json_tier.projecting import JsonProjection
from unified_state.services.json_tier.restoring import session_start_text
from unified_state.storage.ledger import ACTIVE
from unified_state.storage.tiers.json_desk import CURSORS, SUMMARIES, WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.services.hook_call import HookCall
    from unified_state.services.json_tier.history import JsonHistory

    Handler = Callable[[HookCall, JsonHistory], str]

_CATCH_UP_SECONDS, _STOP_SECONDS, _COMPACT_SECONDS, _END_SECONDS = 2.0, 20.0, 60.0, 1.0


def answer_event(event_name: str, call: HookCall, reason: str | None) -> str:
    """What the client is told; `reason` is why there is no archive, where there should be one."""
    handler = _HANDLERS.get(event_name)
    return handler(call, open_history(call.workspace.place, reason)) if handler is not None else ""


def _on_session_start(call: HookCall, history: JsonHistory) -> str:
    if call.event.agent_id:
        return ""
    if call.part in {"", BRIEF}:
        capture = _capture(call, history, _CATCH_UP_SECONDS)
        _capture_own(call, capture)
        capture.catch_up()
        _note_session(call, history)
    source = call.event.text("source")
    reason: Any = source if source in {"compact", "clear", "resume", "fork"} else "startup"
    return session_start_text(call, history, reason)


def _on_user_prompt_submit(call: HookCall, history: JsonHistory) -> str:
    capture = _capture(call, history, call.settings.prompt_milliseconds / 1000)
    _capture_own(call, capture)
    _note_session(call, history)
    if call.event.session_id:
        capture.keep(call.event.session_id, PROMPT, call.event.text("prompt"))
    return ""


def _on_stop(call: HookCall, history: JsonHistory) -> str:
    capture = _capture(call, history, _STOP_SECONDS)
    if call.event.session_id:
        capture.keep(call.event.session_id, TEXT, call.event.text("last_assistant_message"))
    call.let_client_go_on()
    _capture_own(call, capture)
    return ""


def _on_subagent_stop(call: HookCall, history: JsonHistory) -> str:
    if call.event.agent_type == "":
        _keep_summary(call, history, call.event.text("last_assistant_message"))
        return ""
    call.let_client_go_on()
    path = call.event.text("agent_transcript_path")
    if path and call.event.session_id:
        agent = call.event.agent_id or "subagent"
        _capture(call, history, _STOP_SECONDS).transcript(path, call.event.session_id, agent)
    return ""


def _on_pre_compact(call: HookCall, history: JsonHistory) -> str:
    from unified_state.sources.git import start_git

    answer = start_git(call.workspace.place.repository.worktree, call.environ)
    _capture_own(call, _capture(call, history, _COMPACT_SECONDS))
    git = answer()
    branch = git.branch and call.workspace.masker.text(git.branch)
    _note_session(call, history, branch=branch, commit=git.commit)
    history.desk.change(lambda desk: desk[SUMMARIES].pop(call.event.session_id, None))
    state = JsonProjection(history, call.workspace, call.now).save("precompact", git)
    refuse_if_asked(call, state)
    if not call.settings.steer_summary:
        return ""
    items = [item for item in history.store.items() if item.status == ACTIVE]
    return keep_list(items, state, call.settings.steer_bytes)


def _on_post_compact(call: HookCall, history: JsonHistory) -> str:
    if call.event.session_id not in history.desk.read()[SUMMARIES]:
        _keep_summary(call, history, call.event.text("compact_summary"))
    return ""


def _on_session_end(call: HookCall, history: JsonHistory) -> str:
    _capture_own(call, _capture(call, history, _END_SECONDS))
    _note_session(call, history, ended=True)
    reason = call.workspace.masker.text(call.event.text("reason")) or "other"
    if call.event.session_id:
        ended = StoredSession(session_id=call.event.session_id, ended_at=call.now, end_reason=reason)
        history.store.append([ended])
    return ""


def _capture(call: HookCall, history: JsonHistory, seconds: float) -> JsonCapture:
    return JsonCapture(history, call.workspace.masker, call.now, lambda: time.monotonic() - call.started < seconds)


def _capture_own(call: HookCall, capture: JsonCapture) -> None:
    if call.event.transcript_path and call.event.session_id:
        capture.session(call.event.transcript_path, call.event.session_id)


def _note_session(call: HookCall, history: JsonHistory, **known: object) -> None:
    """Note that a session is alive, in which worktree and process, and where its transcript lies."""
    session_id, path = call.event.session_id or "unknown", call.event.transcript_path
    told = {"worktree": call.workspace.place.repository.worktree, "pid": call.pid, "seen_at": call.now, "ended": False}

    def change(desk: dict[str, Any]) -> None:
        before = desk[WORK].get(session_id, {})
        desk[WORK][session_id] = {**before, "last_seen": before.get("seen_at", 0), **told, **known}
        if path and path not in desk[CURSORS] and not history.is_fallback:
            desk[CURSORS][path] = {"session_id": session_id, "agent": None, "offset": 0, "inode": None}

    history.desk.change(change, durable=False)


def _keep_summary(call: HookCall, history: JsonHistory, message: str) -> None:
    text = call.workspace.masker.text(summary_part(message))
    if text and call.event.session_id:
        history.desk.change(lambda desk: desk[SUMMARIES].__setitem__(call.event.session_id, text))


_HANDLERS: dict[str, Handler] = {
    "SessionStart": _on_session_start,
    "UserPromptSubmit": _on_user_prompt_submit,
    "Stop": _on_stop,
    "SubagentStop": _on_subagent_stop,
    "PreCompact": _on_pre_compact,
    "PostCompact": _on_post_compact,
    "SessionEnd": _on_session_end,
}

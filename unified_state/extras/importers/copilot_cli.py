"""Sessions of GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, to which every event is appended.

An event has `type`, `id`, `timestamp` and `data`. Prompts, answers, reasoning, tool calls, results and summaries of
compactions become steps; the other events (hooks, models, costs) say nothing that is searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from unified_state.extras.importers.foreign_records import Conversation, as_json, moment, text_in
from unified_state.hosts.transcripts.transcript_lines import objects_in
from unified_state.lib.foreign_values import clean_text, json_of, time_of
from unified_state.model.history_records import HistoryRecord
from unified_state.model.step import NOTICE, TEXT, THINKING, TOOL_CALL, TOOL_RESULT
from unified_state.upkeep.exchange.foreign_files import ForeignFile

NAME = "Copilot CLI session"
_PROGRAM = "copilot-cli"
_START = re.compile(r'\{[^\n]{0,200}?"type"\s*:\s*"session\.start"')
_TEXTS = {
    "user.message": (NOTICE, "content"),
    "assistant.message": (TEXT, "content"),
    "assistant.reasoning": (THINKING, "content"),
    "session.compaction_complete": (TEXT, "summaryContent"),
}


def told(head: str, _path: str) -> bool:
    """Return whether the first line is the start of a session."""
    return _START.match(head) is not None or (head.startswith("{") and '"copilotVersion"' in head.partition("\n")[0])


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield the session and its events as steps. Damaged lines are skipped and counted."""
    talk, asked = None, set[str]()
    for number, event in file.objects():
        data = event.get("data")
        if not isinstance(data, dict) or not isinstance(event.get("type"), str):
            file.skip(f"line {number}")
            continue
        at = moment(event.get("timestamp")) or time_of(event.get("timestamp"))
        if talk is None:
            cwd = text_in(data.get("context"), "cwd") or text_in(data, "cwd")
            if file.is_elsewhere(cwd):
                return
            started = moment(data.get("startTime")) or at or file.modified()
            talk = Conversation(_PROGRAM, text_in(data, "sessionId") or file.folder, started)
            yield talk.session()
        name = text_in(event, "id") or f"{talk.id}:{number}"
        yield from _steps(talk, event["type"], data, at, name, asked)


def _steps(
    talk: Conversation, kind: str, data: dict[str, Any], at: int, name: str, asked: set[str]
) -> Iterator[HistoryRecord]:
    """Yield the steps of an event. `asked` are the tool calls that a message already showed."""
    if kind in _TEXTS:
        step_kind, field = _TEXTS[kind]
        if thought := text_in(data, "reasoningText") if step_kind == TEXT else "":
            yield talk.step(THINKING, thought, at, name=f"{name}:thought")
        if said := text_in(data, field).strip():
            yield talk.step(step_kind, said, at, name=name)
    calls = objects_in(data.get("toolRequests")) if kind == "assistant.message" else []
    if kind == "tool.execution_start" and text_in(data, "toolCallId") not in asked:
        calls = [data]
    for block, call in enumerate(calls, 1):
        call_id = text_in(call, "toolCallId")
        asked.add(call_id)
        given = call.get("arguments")
        text = as_json(json_of(given, {}) or given)
        tool = text_in(call, "name", "toolName")
        yield talk.step(TOOL_CALL, text, at, name=name, block=block, tool=tool, tool_use_id=call_id or None)
    if kind == "tool.execution_complete" and (said := _result(data)):
        failed, call_id = data.get("success") is False, text_in(data, "toolCallId")
        yield talk.step(TOOL_RESULT, said, at, name=name, is_error=failed, tool_use_id=call_id or None)


def _result(data: dict[str, Any]) -> str:
    result = data.get("result")
    if isinstance(result, str):
        return clean_text(result)
    return text_in(result, "content", "detailedContent") or text_in(data.get("error"), "message")

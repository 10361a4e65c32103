"""Codex rollouts: the steps of each line of a JSON Lines file.

Tested with version 0.169.0. The reader uses messages and tool calls in the form that the model receives
(`response_item`), and compactions. It skips screen events, token counts and Codex's instructions. Codex's shell tools
get the names and fields of Claude Code's, so that capture learns from their commands too.
"""

from __future__ import annotations

import zlib

from unified_state.agents.transcripts.transcript_lines import Message, object_in, objects_in, text_in, texts_in, time_of
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import nonces_in
from unified_state.model.step import NOTICE, PROMPT, TEXT, THINKING, Delivery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from unified_state.agents.transcripts.transcript_lines import Entry
    from unified_state.model.step import Found, Step

_USER_TEXT = "user.text"  # the message part kind of text that the user wrote
_CODEX_TEXT = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
_SHELLS = {"exec_command": "cmd", "shell": "command", "shell_command": "command", "container.exec": "command"}
_FAILED = ("Process exited with code ", "Exit code: ")
_HEAD = 400  # length of the head of a result, which contains its exit status
_CUT = "Warning: truncated output"  # beginning of a hook output of which the model saw only both ends
_SUMMARY_BEGINS = ":\n"  # end of Codex's introduction to a summary


def read_line(line: Entry) -> Iterator[Found]:
    """Yield the steps, boundaries, summaries and deliveries of one line, in order. Other lines yield nothing."""
    payload, kind = object_in(line, "payload"), line.get("type")
    if not payload or kind not in ("compacted", "response_item"):
        return
    # A fork copies a line with its uuid. A tool's call and its result share an id, so the time and the checksum are
    # part of the uuid.
    checksum = zlib.crc32(dump_json(payload).encode("utf-8", "replace"))
    message = Message(f"{text_in(line, 'timestamp')}-{checksum:08x}", time_of(line))
    if kind == "compacted":
        text = text_in(payload, "message")
        introduction, colon, summary = text.partition(_SUMMARY_BEGINS)
        yield from message.compaction(summary if colon and "\n" not in introduction else text)
    elif text_in(payload, "type") == "message":
        yield from _said(message, payload, is_summary=bool(object_in(line, "metadata").get("compaction_output")))
    else:
        read = _READERS.get(text_in(payload, "type"))
        step = None if read is None else read(message, payload)
        if step is not None:
            yield step


def _said(message: Message, payload: Entry, *, is_summary: bool) -> Iterator[Found]:
    text = texts_in(objects_in(payload.get("content")))
    match payload.get("role"):
        case "developer":
            nonces = nonces_in(text)
            if nonces and not text.startswith(_CUT):
                yield Delivery(uuid=message.uuid, nonces=nonces)
        case "user" if text:
            is_prompt = _is_users(payload, text)
            yield message.step(PROMPT if is_prompt else NOTICE, text, starts_turn=is_prompt)
        case "assistant" if text and not is_summary:
            yield message.step(TEXT, text)


def _is_users(payload: Entry, text: str) -> bool:
    """Return whether the user wrote a text. Codex also writes its own texts in the user's place."""
    kinds = object_in(payload, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    return _USER_TEXT in kinds if isinstance(kinds, list) else not text.lstrip().startswith(_CODEX_TEXT)


def _reasoning(message: Message, payload: Entry) -> Step | None:
    parts = [*objects_in(payload.get("summary")), *objects_in(payload.get("content"))]
    text = "\n".join(filter(None, (text_in(part, "text") for part in parts)))
    return message.step(THINKING, text) if text else None


def _call(message: Message, payload: Entry) -> Step:
    name = text_in(payload, "name") or text_in(payload, "type").removesuffix("_call")
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    return message.call(*_as_claudes(name, _parsed(given)), _call_id(payload))


def _as_claudes(name: str, fields: Any) -> tuple[str, Any]:
    """Return a call's name and fields in Claude Code's form, if Claude Code has the same tool."""
    command = fields.get(_SHELLS[name]) if name in _SHELLS and isinstance(fields, dict) else None
    if isinstance(command, list):  # ["bash", "-lc", "the command"]
        command = str(command[-1]) if command else None
    if not isinstance(command, str):
        return name, fields if isinstance(fields, dict) else {"input": fields}
    return "Bash", {**{key: value for key, value in fields.items() if key != _SHELLS[name]}, "command": command}


def _result(message: Message, payload: Entry) -> Step:
    output = payload.get("output")
    if isinstance(output, dict):
        output = output.get("content", output)
    text = texts_in(output) if isinstance(output, (str, list)) else dump_json(output)
    return message.result(text, _call_id(payload), is_error=_has_failed(text))


def _has_failed(text: str) -> bool:
    for words in _FAILED:
        _, found, status = text[:_HEAD].partition(words)
        if found:
            return not status.startswith(("0\n", "0\r")) and status != "0"
    return False


def _call_id(payload: Entry) -> str | None:
    return text_in(payload, "call_id") or text_in(payload, "id") or None


def _parsed(given: Any) -> Any:
    try:
        return parse_json(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return given


_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_READERS: dict[str, Callable[[Message, Entry], Step | None]] = {
    "reasoning": _reasoning,
    **dict.fromkeys(_CALLS, _call),
    **dict.fromkeys(("function_call_output", "custom_tool_call_output"), _result),
}

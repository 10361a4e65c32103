"""Rollouts of Codex: the steps of each line of a JSON Lines file.

Seen with version 0.169.0. The reader takes messages and tool calls as the model has them (`response_item`), and
compactions. It skips events for the screen, token counts and the instructions that Codex gives itself. Codex's shell
tools get the name and the fields of Claude Code's, so that capture learns from their commands too.
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

_USER_TEXT = "user.text"  # among the kinds of a message's parts, for what the user wrote
_CODEX_TEXT = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
_SHELLS = {"exec_command": "cmd", "shell": "command", "shell_command": "command", "container.exec": "command"}
_FAILED = ("Process exited with code ", "Exit code: ")
_HEAD = 400  # characters of a result, in which its exit status stands
_CUT = "Warning: truncated output"  # how a hook's text begins of which the model is shown both ends only
_SUMMARY_BEGINS = ":\n"  # behind Codex's own introduction of a summary


def read_line(line: Entry) -> Iterator[Found]:
    """The steps, boundaries, summaries and deliveries of one line, in order; nothing where it is no conversation."""
    payload, kind = object_in(line, "payload"), line.get("type")
    if not payload or kind not in ("compacted", "response_item"):
        return
    # The uuid is the same where a fork copied the line. A tool's call and result share their id, so the time and the
    # checksum are part of it.
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
    """Whether the user wrote it; Codex puts texts of its own in the user's place."""
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
    """A call by Claude Code's names where it has the same tool."""
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

"""Rollouts of Codex: one line of the JSON Lines file in, the steps it holds out.

Seen with version 0.169.0. Read are the messages and tool calls as the model has them (`response_item`) and compactions;
events for the screen, token counts and the instructions that Codex gives itself are left out. Codex's own tools for
shell commands are named and worded like Claude Code's, so that what is learnt from commands is learnt from these too.
"""

from __future__ import annotations

import zlib

from unified_state.agents.transcripts.transcript_lines import objects_in, text_in, time_of
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.text import nonces_in
from unified_state.model.step import (
    NOTICE,
    PROMPT,
    TEXT,
    THINKING,
    TOOL_CALL,
    TOOL_RESULT,
    Boundary,
    Delivery,
    Step,
    Summary,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from unified_state.model.step import Found

    Line = dict[str, Any]

_USER_TEXT = "user.text"  # among the kinds of a message's parts, for what the user wrote
_CODEX_TEXT = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
_SHELLS = {"exec_command": "cmd", "shell": "command", "shell_command": "command", "container.exec": "command"}
_FAILED = ("Process exited with code ", "Exit code: ")
_HEAD = 400  # characters of a result, in which its exit status stands
_CUT = "Warning: truncated output"  # how a hook's text begins of which the model is shown both ends only
_SUMMARY_BEGINS = ":\n"  # behind Codex's own introduction of a summary


def read_line(line: Line) -> Iterator[Found]:
    """The steps, boundaries, summaries and deliveries of one line, in order; nothing where it is no conversation."""
    payload = line.get("payload")
    if not isinstance(payload, dict):
        return
    if line.get("type") == "compacted":
        yield from _compacted(line, payload)
    elif line.get("type") == "response_item":
        read = _READERS.get(text_in(payload, "type"))
        if read is not None:
            yield from read(line, payload)


def _compacted(line: Line, payload: Line) -> Iterator[Found]:
    uuid, at = _uuid(line, payload), time_of(line)
    yield Boundary(uuid=uuid, at=at)
    message = text_in(payload, "message")
    introduction, colon, summary = message.partition(_SUMMARY_BEGINS)
    yield Summary(uuid=uuid, at=at, text=summary if colon and "\n" not in introduction else message)


def _message(line: Line, payload: Line) -> Iterator[Found]:
    text = "\n".join(text_in(part, "text") for part in objects_in(payload.get("content")))
    metadata = line.get("metadata")
    match payload.get("role"):
        case "developer":
            nonces = nonces_in(text)
            if nonces and not text.startswith(_CUT):
                yield Delivery(uuid=_uuid(line, payload), nonces=nonces)
        case "user" if text:
            is_prompt = _is_users(payload, text)
            yield _step(line, payload, PROMPT if is_prompt else NOTICE, text, starts_turn=is_prompt)
        case "assistant" if text and not (isinstance(metadata, dict) and metadata.get("compaction_output")):
            yield _step(line, payload, TEXT, text)


def _is_users(payload: Line, text: str) -> bool:
    """Whether the user wrote it; Codex puts texts of its own in the user's place."""
    about = payload.get("internal_chat_message_metadata_passthrough")
    kinds = about.get("content_item_kinds") if isinstance(about, dict) else None
    if isinstance(kinds, list):
        return _USER_TEXT in kinds
    return not text.lstrip().startswith(_CODEX_TEXT)


def _reasoning(line: Line, payload: Line) -> Iterator[Found]:
    parts = [*objects_in(payload.get("summary")), *objects_in(payload.get("content"))]
    text = "\n".join(filter(None, (text_in(part, "text") for part in parts)))
    if text:
        yield _step(line, payload, THINKING, text)


def _call(line: Line, payload: Line) -> Iterator[Found]:
    name = text_in(payload, "name") or text_in(payload, "type").removesuffix("_call")
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    tool, fields = _as_claudes(name, _parsed(given))
    yield _step(line, payload, TOOL_CALL, dump_json(fields), tool=tool, tool_use_id=_call_id(payload))


def _as_claudes(name: str, fields: Any) -> tuple[str, Any]:
    """A call by Claude Code's names where it has the same tool."""
    command = fields.get(_SHELLS[name]) if name in _SHELLS and isinstance(fields, dict) else None
    if isinstance(command, list):  # ["bash", "-lc", "the command"]
        command = str(command[-1]) if command else None
    if not isinstance(command, str):
        return name, fields if isinstance(fields, dict) else {"input": fields}
    return "Bash", {**{key: value for key, value in fields.items() if key != _SHELLS[name]}, "command": command}


def _result(line: Line, payload: Line) -> Iterator[Found]:
    output = payload.get("output")
    if isinstance(output, dict):
        output = output.get("content", output)
    if isinstance(output, list):
        output = "\n".join(text_in(part, "text") for part in objects_in(output))
    text = output if isinstance(output, str) else dump_json(output)
    yield _step(line, payload, TOOL_RESULT, text, tool_use_id=_call_id(payload), is_error=_has_failed(text))


def _has_failed(text: str) -> bool:
    head = text[:_HEAD]
    for words in _FAILED:
        _, found, status = head.partition(words)
        if found:
            return not status.startswith(("0\n", "0\r")) and status != "0"
    return False


def _step(line: Line, payload: Line, kind: str, text: str, **more: Any) -> Step:
    return Step(uuid=_uuid(line, payload), block=0, kind=kind, at=time_of(line), text=text, **more)


def _uuid(line: Line, payload: Line) -> str:
    """What names the line for ever: the same where a fork copied it. A tool's call and result share what they have of
    a name, so the line's time and sum are part of it.
    """
    checksum = zlib.crc32(dump_json(payload).encode("utf-8", "replace"))
    return f"{text_in(line, 'timestamp')}-{checksum:08x}"


def _call_id(payload: Line) -> str | None:
    return text_in(payload, "call_id") or text_in(payload, "id") or None


def _parsed(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return parse_json(given)
    except (ValueError, RecursionError):
        return given


_READERS: dict[str, Callable[[Line, Line], Iterator[Found]]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _call,
    "local_shell_call": _call,
    "web_search_call": _call,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
}

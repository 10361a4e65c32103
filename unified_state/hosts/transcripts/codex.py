"""Codex rollouts: the steps of each line of a JSON Lines file.

Tested with version 0.169.0. The reader uses messages and tool calls in the form that the model receives
(`response_item`), compactions, and turns that were taken back. It skips screen events, token counts and Codex's
instructions. Tools that Claude Code also has get its names and fields, and results its form: the output alone, after
`Exit code N` if the command failed.
"""

from __future__ import annotations

import re
import shlex
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from unified_state.hosts.transcripts.rules.call_effects import PATCH_TOOL
from unified_state.hosts.transcripts.transcript_lines import (
    Entry,
    Message,
    object_in,
    objects_in,
    text_in,
    texts_in,
    time_of,
)
from unified_state.lib.fence import nonces_in
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.shell.shell_line import program_name
from unified_state.model.step import NOTICE, PROMPT, TEXT, THINKING, Delivery, Found, RewindMark, Step

_USER_TEXT = "user.text"  # the message part kind of text that the user wrote
_CODEX_TEXT = ("<environment_context>", "<user_instructions>", "<skill>", "<turn_aborted>", "# AGENTS.md instructions")
_SHELLS = {
    "exec_command": "cmd",
    **dict.fromkeys(("shell", "shell_command", "container.exec", "local_shell"), "command"),
}
_FOLDER = "working_directory"  # another name of `workdir`
_SHELL_PROGRAMS = ("bash", "sh", "zsh")
_MCP = "mcp__"
_PLAN, _TODOS = "update_plan", "TodoWrite"
# The lines that Codex puts before an output, or in its place.
_HEAD = re.compile(r"(?:.*\n){0,7}?Output:(?:\n|\Z)|(?:Process exited with code |Exit code: ).*\Z")
_EXITED = re.compile(r"^(?:Process exited with code |Exit code: )(.*)", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with .*", re.MULTILINE)
_NOT_DONE = (  # beginnings of results that have no exit status
    "apply_patch verification failed",
    "exec command rejected by user",
    "patch rejected by user",
    "aborted by user",
    "unsupported call",
    "failed to parse function arguments",
    "execution error",
)
_CUT = "Warning: truncated output"  # beginning of a hook output of which the model saw only both ends
_SUMMARY_BEGINS = ":\n"  # end of Codex's introduction to a summary
_BACK = "thread_rolled_back"
_ENCRYPTED = "Codex keeps this summary encrypted. The conversation still holds these texts of the user:"


def read_line(line: Entry) -> Iterator[Found]:
    """Yield the steps, boundaries, summaries and deliveries of one line, in order. Other lines yield nothing."""
    payload, kind = object_in(line, "payload"), line.get("type")
    if kind == "event_msg" and text_in(payload, "type") == _BACK and isinstance(payload.get("num_turns"), int):
        yield RewindMark(at=time_of(line), turns=payload["num_turns"])
    if not payload or kind not in ("compacted", "response_item"):
        return
    # A fork copies a line with its uuid. A tool's call and its result share an id, so the time and the checksum are
    # part of the uuid.
    checksum = zlib.crc32(dump_json(payload).encode("utf-8", "replace"))
    message = Message(f"{text_in(line, 'timestamp')}-{checksum:08x}", time_of(line))
    if kind == "compacted":
        yield from message.compaction(_summary(payload))
    elif text_in(payload, "type") == "message":
        yield from _said(message, payload, is_summary=bool(object_in(line, "metadata").get("compaction_output")))
    else:
        read = _READERS.get(text_in(payload, "type"))
        step = None if read is None else read(message, payload)
        if step is not None:
            yield step


def _summary(payload: Entry) -> str:
    """Return the summary of a compaction, or what the user said and Codex keeps beside a summary that it encrypts."""
    text = text_in(payload, "message")
    introduction, colon, summary = text.partition(_SUMMARY_BEGINS)
    if text:
        return summary if colon and "\n" not in introduction else text
    kept = [part for part in objects_in(payload.get("replacement_history")) if part.get("role") == "user"]
    texts = [text for part in kept if _is_users(part, text := texts_in(objects_in(part.get("content"))))]
    return "\n\n".join([_ENCRYPTED, *texts]) if texts else ""


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
    server = text_in(payload, "namespace")
    if server.startswith(_MCP):
        name = f"{server}__{name}"
    given = _parsed(payload.get("arguments", payload.get("input", payload.get("action"))))
    fields = given if isinstance(given, dict) else {"input": given}
    return message.call(*_as_claudes(name, fields), _call_id(payload))


def _as_claudes(name: str, fields: Entry) -> tuple[str, Entry]:
    """Return a call's name and fields in Claude Code's form, if Claude Code has the same tool."""
    if name == _PLAN:
        steps = objects_in(fields.get("plan"))
        return _TODOS, {"todos": [{"content": step.get("step"), "status": step.get("status")} for step in steps]}
    command = fields.get(_SHELLS.get(name, ""))
    if isinstance(command, list):
        words = list(map(str, command))
        if words[:1] == [PATCH_TOOL]:
            return PATCH_TOOL, {**_folder(fields), "input": "".join(words[1:2])}
        command = _line_of(words)
    if not isinstance(command, str):
        return name, fields
    others = {key: value for key, value in fields.items() if key not in {_SHELLS[name], _FOLDER}}
    return "Bash", {**others, **_folder(fields), "command": command}


def _folder(fields: Entry) -> Entry:
    folder = text_in(fields, "workdir") or text_in(fields, _FOLDER)
    return {"workdir": folder} if folder else {}


def _line_of(words: list[str]) -> str:
    """Return the shell line of a command that is given by its words: `bash -lc LINE`, or a program with arguments."""
    is_shell = program_name("".join(words[:1])) in _SHELL_PROGRAMS and words[1:2] in (["-c"], ["-lc"])
    return "".join(words[2:3]) if is_shell else shlex.join(words)


def _result(message: Message, payload: Entry) -> Step:
    output, failed = payload.get("output"), False
    if isinstance(output, dict):
        failed = output.get("success") is False
        output = output.get("content", output)
    text = texts_in(output) if isinstance(output, (str, list)) else dump_json(output)
    text, status = _outcome(text)
    return message.result(text, _call_id(payload), is_error=failed or status != "0")


def _outcome(text: str) -> tuple[str, str]:
    """Return the output of a result, and the exit status of the command; "0" if it has none and did not fail."""
    if text.startswith('{"output":'):  # older versions
        told = _parsed(text)
        if isinstance(told, dict) and isinstance(told.get("output"), str):
            return _with_status(told["output"], str(object_in(told, "metadata").get("exit_code", 0)))
    found = _HEAD.match(text)
    head, output = (text[: found.end()], text[found.end() :]) if found else ("", text)
    if exited := _EXITED.search(head):
        return _with_status(output, exited[1].strip())
    if running := _RUNNING.search(head):
        return f"{running[0]}\n{output}", "0"
    return output, ("1" if text.startswith(_NOT_DONE) else "0")


def _with_status(output: str, status: str) -> tuple[str, str]:
    return (output if status == "0" else f"Exit code {status}\n{output}"), status


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

"""Messages from opencode's own interface: the steps of each message.

Tested with version 1.18.33. Each part of a message has an id, which becomes the uuid of its steps. Tools that Claude
Code also has get its names.
"""

from __future__ import annotations

from collections.abc import Iterator

from unified_state.hosts.transcripts.transcript_lines import Entry, Message, object_in, objects_in, text_in
from unified_state.lib.fence import nonces_in
from unified_state.lib.foreign_values import time_of
from unified_state.model.step import PROMPT, TEXT, THINKING, Delivery, Found, Step

_TOOLS = {
    "bash": "Bash",
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "webfetch": "WebFetch",
    "task": "Task",
}
_FIELDS = {"filePath": "file_path", "oldString": "old_string", "newString": "new_string"}


def read_line(line: Entry) -> Iterator[Found]:
    """Yield the steps, boundaries, summaries and deliveries of one message, in order."""
    info, parts = object_in(line, "info"), objects_in(line.get("parts"))
    at = time_of(object_in(info, "time").get("created"))
    if info.get("summary") is True and info.get("role") != "user":
        text = "\n".join(text_in(part, "text") for part in parts if part.get("type") == "text")
        if text and isinstance(info.get("id"), str):
            yield from Message(info["id"], at).compaction(text)
        return
    read = _of_user if info.get("role") == "user" else _of_assistant
    for part in parts:
        if info and isinstance(part.get("id"), str):
            yield from read(Message(part["id"], at), part)


def _of_user(message: Message, part: Entry) -> Iterator[Found]:
    text, is_synthetic = text_in(part, "text"), bool(part.get("synthetic"))
    nonces = nonces_in(text) if is_synthetic else ()
    if part.get("type") != "text":
        return
    if nonces:
        yield Delivery(uuid=message.uuid, nonces=nonces)
    elif text.strip() and not is_synthetic:
        yield message.step(PROMPT, text, starts_turn=True)


def _of_assistant(message: Message, part: Entry) -> Iterator[Found]:
    text = text_in(part, "text")
    match part.get("type"):
        case "text" if text.strip():
            yield message.step(TEXT, text)
        case "reasoning" if text.strip():
            yield message.step(THINKING, text)
        case "tool":
            yield from _of_tool(message, part)


def _of_tool(message: Message, part: Entry) -> Iterator[Step]:
    state = object_in(part, "state")
    if state.get("status") not in {"completed", "error"}:
        return  # its input may be incomplete
    name, call_id = text_in(part, "tool"), text_in(part, "callID") or None
    fields = {_FIELDS.get(key, key): value for key, value in object_in(state, "input").items()}
    yield message.call(_TOOLS.get(name, name), fields, call_id)
    status = object_in(state, "metadata").get("exit")
    is_error = state["status"] == "error" or (isinstance(status, int) and status != 0)
    yield message.result(text_in(state, "output") or text_in(state, "error"), call_id, 1, is_error=is_error)

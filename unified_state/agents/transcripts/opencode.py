"""Messages of opencode, as its own interface gives them: one in, the steps it holds out.

Seen with version 1.18.33. Each part of a message has an id of its own, by which it is known for ever. The tools that
Claude Code has too go by its names.
"""

from __future__ import annotations

from unified_state.agents.transcripts.transcript_lines import text_in
from unified_state.lib.foreign_values import time_of
from unified_state.lib.stdlib import dump_json
from unified_state.lib.text import nonces_in
from unified_state.model.step import PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, Boundary, Delivery, Step, Summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.model.step import Found

    Part = dict[str, Any]

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


def read_line(line: Part) -> Iterator[Found]:
    """The steps, boundaries, summaries and deliveries of one message, in order."""
    info, parts = line.get("info"), line.get("parts")
    if not isinstance(info, dict) or not isinstance(parts, list):
        return
    at = _created(info)
    known = [part for part in parts if isinstance(part, dict) and isinstance(part.get("id"), str)]
    if info.get("role") == "user":
        for part in known:
            yield from _of_user(part, at)
    elif info.get("summary") is True:
        text = "\n".join(text_in(part, "text") for part in known if part.get("type") == "text")
        if text and isinstance(info.get("id"), str):
            yield Boundary(uuid=info["id"], at=at, trigger=None)
            yield Summary(uuid=info["id"], at=at, text=text)
    else:
        for part in known:
            yield from _of_assistant(part, at)


def _of_user(part: Part, at: int) -> Iterator[Found]:
    text = text_in(part, "text")
    if part.get("type") != "text":
        return
    nonces = nonces_in(text) if part.get("synthetic") else ()
    if nonces:
        yield Delivery(uuid=part["id"], nonces=nonces)
    elif text.strip() and not part.get("synthetic"):
        yield Step(uuid=part["id"], block=0, kind=PROMPT, at=at, text=text, starts_turn=True)


def _of_assistant(part: Part, at: int) -> Iterator[Found]:
    text = text_in(part, "text")
    match part.get("type"):
        case "text" if text.strip():
            yield Step(uuid=part["id"], block=0, kind=TEXT, at=at, text=text)
        case "reasoning" if text.strip():
            yield Step(uuid=part["id"], block=0, kind=THINKING, at=at, text=text)
        case "tool":
            yield from _of_tool(part, at)


def _of_tool(part: Part, at: int) -> Iterator[Step]:
    state = part.get("state")
    state = state if isinstance(state, dict) else {}
    if state.get("status") not in {"completed", "error"}:
        return  # its input may not be whole yet
    name, call_id, given = text_in(part, "tool"), text_in(part, "callID") or None, state.get("input")
    fields = {_FIELDS.get(key, key): value for key, value in given.items()} if isinstance(given, dict) else {}
    yield Step(
        uuid=part["id"],
        block=0,
        kind=TOOL_CALL,
        at=at,
        text=dump_json(fields),
        tool=_TOOLS.get(name, name),
        tool_use_id=call_id,
    )
    yield Step(
        uuid=part["id"],
        block=1,
        kind=TOOL_RESULT,
        at=at,
        text=text_in(state, "output") or text_in(state, "error"),
        tool_use_id=call_id,
        is_error=state["status"] == "error" or _exit_status(state) not in {0, None},
    )


def _exit_status(state: Part) -> Any:
    metadata = state.get("metadata")
    status = metadata.get("exit") if isinstance(metadata, dict) else None
    return status if isinstance(status, int) else None


def _created(info: Part) -> int:
    time = info.get("time")
    return time_of(time.get("created") if isinstance(time, dict) else None)

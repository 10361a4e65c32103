"""Chats of Gemini CLI: one line of the JSON Lines file in, the steps it holds out.

Seen with version 0.61.0. A message is written again when it has grown (a tool's call, then its result), always by the
same id, so what is known of it is not stored twice. `$set` puts the conversation anew, as the model has it from then
on: of that only a compression is new. The tools that Claude Code has too go by its names.
"""

from __future__ import annotations

from unified_state.agents.transcripts.host_event import without_context
from unified_state.agents.transcripts.transcript_lines import objects_in, text_in, time_of
from unified_state.lib.stdlib import dump_json
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
    from collections.abc import Iterator
    from typing import Any

    from unified_state.model.step import Found

    Line = dict[str, Any]

_SUMMARY, _SUMMARY_ENDS = "<state_snapshot>", "</state_snapshot>"
_ITS_OWN = ("<session_context>", "<state_snapshot>")  # how texts begin that it puts in the user's place
_TOOLS = {
    "run_shell_command": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "glob": "Glob",
    "grep_search": "Grep",
    "search_file_content": "Grep",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
}
_FIRST_THOUGHT, _FIRST_CALL = 1, 1000  # the positions of a message's parts; each call has two, for its result too
_FAILED = ("error", "cancelled")


def read_line(line: Line) -> Iterator[Found]:
    """The steps, boundaries, summaries and deliveries of one line, in order; nothing where it is no conversation."""
    changed = line.get("$set")
    if isinstance(changed, dict):
        yield from _compression(changed)
    elif isinstance(line.get("id"), str):
        match line.get("type"):
            case "user":
                yield from _user(line)
            case "gemini":
                yield from _gemini(line)


def _compression(changed: Line) -> Iterator[Found]:
    """The summary that stands at the beginning of a conversation put anew, if there is one."""
    for message in objects_in(changed.get("messages")):
        text = _text(message.get("content"))
        begin = text.find(_SUMMARY)
        if begin >= 0 and message.get("type") == "user" and isinstance(message.get("id"), str):
            uuid, at = message["id"], time_of(message)
            yield Boundary(uuid=uuid, at=at)
            yield Summary(uuid=uuid, at=at, text=text[begin + len(_SUMMARY) :].partition(_SUMMARY_ENDS)[0].strip())
            return


def _user(line: Line) -> Iterator[Found]:
    told = _text(line.get("content"))
    nonces = nonces_in(told.replace("&lt;", "<").replace("&gt;", ">"))  # it escapes what hooks say
    if nonces:
        yield Delivery(uuid=line["id"], nonces=nonces)
    text = without_context(_text(line.get("displayContent")) or told)
    if text.strip():
        is_prompt = not text.lstrip().startswith(_ITS_OWN)
        yield _step(line, 0, PROMPT if is_prompt else NOTICE, text, starts_turn=is_prompt)


def _gemini(line: Line) -> Iterator[Found]:
    for number, thought in enumerate(objects_in(line.get("thoughts"))):
        text = "\n".join(filter(None, (text_in(thought, "subject"), text_in(thought, "description"))))
        if text:
            yield _step(line, _FIRST_THOUGHT + number, THINKING, text)
    text = _text(line.get("content"))
    if text.strip():
        yield _step(line, 0, TEXT, text)
    for number, call in enumerate(objects_in(line.get("toolCalls"))):
        yield from _call(line, _FIRST_CALL + 2 * number, call)


def _call(line: Line, position: int, call: Line) -> Iterator[Step]:
    name, call_id, args = text_in(call, "name"), text_in(call, "id") or None, call.get("args")
    fields = args if isinstance(args, dict) else {"input": args}
    if "absolute_path" in fields:
        fields = {**fields, "file_path": fields["absolute_path"]}
    yield _step(line, position, TOOL_CALL, dump_json(fields), tool=_TOOLS.get(name, name), tool_use_id=call_id)
    if call.get("result") is not None:
        failed = text_in(call, "status") in _FAILED
        yield _step(line, position + 1, TOOL_RESULT, _result(call), tool_use_id=call_id, is_error=failed)


def _result(call: Line) -> str:
    """What the model was given, part by part."""
    texts = []
    for part in objects_in(call.get("result")):
        given = part.get("functionResponse")
        response = given.get("response") if isinstance(given, dict) else None
        output = response.get("output", response.get("error")) if isinstance(response, dict) else None
        texts.append(output if isinstance(output, str) else text_in(part, "text") or dump_json(part))
    return "\n".join(texts)


def _step(line: Line, position: int, kind: str, text: str, **more: Any) -> Step:
    return Step(uuid=line["id"], block=position, kind=kind, at=time_of(line), text=text, **more)


def _text(content: Any) -> str:
    """The text of a message, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (text_in(part, "text") for part in objects_in(content))))

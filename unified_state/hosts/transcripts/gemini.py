"""Gemini CLI chats: the steps of each line of a JSON Lines file.

Tested with version 0.61.0. The host writes a message again with the same id when it has grown (first a tool's call,
then its result), so no step is stored twice. `$set` replaces the conversation with the one that the model has from then
on. Only a compression in it is new. `$rewindTo` takes back a message and all behind it. Earlier versions wrote one
object with all messages. Tools that Claude Code also has get its names.
"""

from __future__ import annotations

from collections.abc import Iterator

from unified_state.hosts.transcripts.transcript_lines import (
    Entry,
    Message,
    object_in,
    objects_in,
    text_in,
    texts_in,
    time_of,
    without_context,
)
from unified_state.lib.fence import nonces_in
from unified_state.lib.json_text import dump_json
from unified_state.model.step import NOTICE, PROMPT, TEXT, THINKING, Delivery, Found, RewindMark, Step

_SUMMARY, _SUMMARY_ENDS = "<state_snapshot>", "</state_snapshot>"
_ITS_OWN = ("<session_context>", "<state_snapshot>")  # beginnings of texts that the host writes in the user's place
_BACK = "$rewindTo"
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
_FIRST_THOUGHT, _FIRST_CALL = 1, 1000  # positions of a message's parts; each call takes two, one for its result
_FAILED = ("error", "cancelled")


def read_line(line: Entry) -> Iterator[Found]:
    """Yield the steps, boundaries, summaries and deliveries of one line, in order. Other lines yield nothing."""
    for one in (line, *objects_in(line.get("messages"))):
        yield from _read(one)


def _read(line: Entry) -> Iterator[Found]:
    if "$set" in line:
        yield from _compression(object_in(line, "$set"))
    elif isinstance(line.get(_BACK), str):
        yield RewindMark(first=line[_BACK])
    elif isinstance(line.get("id"), str):
        message = Message(line["id"], time_of(line))
        match line.get("type"):
            case "user":
                yield from _user(message, line)
            case "gemini":
                yield from _gemini(message, line)


def _compression(changed: Entry) -> Iterator[Found]:
    """Yield the boundary and the summary of a replaced conversation, if it begins with a summary."""
    for told in objects_in(changed.get("messages")):
        text = texts_in(told.get("content"))
        begin = text.find(_SUMMARY)
        if begin >= 0 and told.get("type") == "user" and isinstance(told.get("id"), str):
            summary = text[begin + len(_SUMMARY) :].partition(_SUMMARY_ENDS)[0].strip()
            yield from Message(told["id"], time_of(told)).compaction(summary)
            return


def _user(message: Message, line: Entry) -> Iterator[Found]:
    told = texts_in(line.get("content"))
    nonces = nonces_in(told.replace("&lt;", "<").replace("&gt;", ">"))  # the host escapes the output of hooks
    if nonces:
        yield Delivery(uuid=message.uuid, nonces=nonces)
    text = without_context(texts_in(line.get("displayContent")) or told)
    if text.strip():
        is_prompt = not text.lstrip().startswith(_ITS_OWN)
        yield message.step(PROMPT if is_prompt else NOTICE, text, starts_turn=is_prompt)


def _gemini(message: Message, line: Entry) -> Iterator[Found]:
    for number, thought in enumerate(objects_in(line.get("thoughts"))):
        text = "\n".join(filter(None, (text_in(thought, "subject"), text_in(thought, "description"))))
        if text:
            yield message.step(THINKING, text, _FIRST_THOUGHT + number)
    text = texts_in(line.get("content"))
    if text.strip():
        yield message.step(TEXT, text)
    for number, call in enumerate(objects_in(line.get("toolCalls"))):
        yield from _call(message, _FIRST_CALL + 2 * number, call)


def _call(message: Message, block: int, call: Entry) -> Iterator[Step]:
    name, call_id, args = text_in(call, "name"), text_in(call, "id") or None, call.get("args")
    fields = args if isinstance(args, dict) else {"input": args}
    if "absolute_path" in fields:
        fields = {**fields, "file_path": fields["absolute_path"]}
    yield message.call(_TOOLS.get(name, name), fields, call_id, block)
    if call.get("result") is not None:
        yield message.result(_result(call), call_id, block + 1, is_error=text_in(call, "status") in _FAILED)


def _result(call: Entry) -> str:
    """Return the result that the model received, one part after the other."""
    texts = []
    for part in objects_in(call.get("result")):
        response = object_in(object_in(part, "functionResponse"), "response")
        output = response.get("output", response.get("error"))
        texts.append(output if isinstance(output, str) else text_in(part, "text") or dump_json(part))
    return "\n".join(texts)

"""Transcripts of Claude Code: the steps of each entry of a JSON Lines file.

Seen with versions 2.0.76 to 2.1.332. `claude_kinds` lists the kinds of entries, and what becomes of each. The text of
an unknown kind is a notice: a newer client must never break the archive, and what it tells is not lost.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from unified_state.hosts.transcripts.rules.call_effects import still_runs_as
from unified_state.hosts.transcripts.rules.claude_kinds import (
    ATTACHMENTS,
    ENTRIES,
    FILE,
    NEWS,
    SYSTEM,
    TITLES,
    UNKNOWN,
)
from unified_state.hosts.transcripts.transcript_lines import Entry, Message, object_in, objects_in, text_in, time_of
from unified_state.lib.fence import nonces_in
from unified_state.lib.foreign_values import is_too_deep
from unified_state.lib.json_text import dump_json
from unified_state.lib.read_files import open_regular
from unified_state.lib.text import strings_of
from unified_state.lib.times import to_text
from unified_state.model.step import (
    ATTACHMENT,
    NOTICE,
    PROMPT,
    TEXT,
    THINKING,
    TOOL_RESULT,
    Boundary,
    Delivery,
    Found,
    RewindMark,
    Step,
    Summary,
)

# A tool result may have several parts. The text belongs to the block itself. The other parts (images) are numbered.
PARTS_PER_BLOCK = 1000

_TOO_DEEP = "[nested too deep]"

_MEDIA = ("image", "document")
_NO_TEXT = ("redacted_thinking", "fallback")
_NOTIFICATION, _ENDED = "task-notification", ("completed", "failed")
_ENVELOPE = {"type", "parentUuid", "logicalParentUuid", "uuid", "isSidechain", "timestamp", "sessionId", "cwd"}.union(
    ("version", "userType", "entrypoint", "gitBranch", "slug", "agentId")  # fields of entries that are no text
)
# How the text of a failed or refused call begins.
_FAILED = ("Exit code ", "<tool_use_error>", "The user doesn't want to ", "Permission for this ", "Permission to use ")
_MOST_OUTPUT = 1 << 16  # bytes at the end of a task's output
_NO_MESSAGE = ("/", "<", "{")  # in the queue: commands, and what the client wrote
_NO_MODEL = "<synthetic>"  # the client wrote the answer: an error of the API, or that none was asked for
# Texts that the client wrote in the user's place. Those of the first group open a turn because the agent answers them.
_ANSWERED_MACHINE_TEXT = (
    "<task-notification>",
    "<command-name>",
    "<command-message>",
    "<teammate-message",
    '{"task_id"',
)
_OTHER_MACHINE_TEXT = (
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "[Request interrupted",
    "Operation stopped by hook: ",
)


def read_entry(entry: Entry) -> Iterator[Found]:
    """Yield the steps, boundaries, summaries and deliveries of one transcript entry, in order."""
    kind = text_in(entry, "type")
    if kind == "last-prompt" and isinstance(entry.get("leafUuid"), str):
        return iter((RewindMark(after=entry["leafUuid"]),))
    read = _READERS.get(kind)
    if read is None and kind in ENTRIES:
        return iter(())
    uuid = entry.get("uuid")
    if not isinstance(uuid, str):
        if read is not None or not kind:
            return iter(())
        uuid = f"{text_in(entry, 'sessionId')}/{kind}/{zlib.crc32(_json(entry).encode('utf-8', 'replace')):08x}"
    agent = text_in(entry, "agentId") or "sidechain" if entry.get("isSidechain") else None
    message = Message(uuid, time_of(entry), agent)
    if read is not None:
        return read(message, entry)
    fields = {name: value for name, value in entry.items() if name not in _ENVELOPE}
    return _notice(message, fields, f"{UNKNOWN}{kind}")


def _notice(message: Message, fields: Any, tool: str | None, block: int = 0) -> Iterator[Step]:
    """Yield the text of an entry, an attachment or a block, unless it has only names and numbers."""
    text = strings_of(_shallow(fields))
    if " " in text:
        yield message.step(NOTICE, text, block, tool=tool)


class EntryReader:
    """Reads the entries of one transcript in order, and with them titles, which have no time of their own, and what old
    clients tell in their queue alone. `at` is the time of the last entry before.

    A message that was typed while the agent worked has an entry of its own in newer clients. Up to 2.1.42 it is only
    put into the queue and removed from it. The queue also holds what the client wrote, and removes it at other times.
    """

    def __init__(self, at: int = 0) -> None:
        self._at = at
        self._titles: list[Entry] = []  # before the first entry with a time
        self._waiting: list[tuple[str, Step | None]] = []  # None: it has an entry of its own
        self._held: list[tuple[str, Step]] = []  # until the agent goes on, with the message or the task
        self._calls: dict[str, str | None] = {}  # those that went on in the background, by their tasks

    def read(self, entry: Entry) -> Iterator[Found]:
        """Yield what an entry holds, behind what the queue told before the agent went on."""
        match text_in(entry, "type"):
            case "queue-operation":
                self._note(entry)
            case kind if kind in TITLES:
                self._titles.append(entry)
            case "assistant" if not entry.get("isSidechain"):
                for of, step in self._held:
                    yield step.replace(tool_use_id=self._calls.get(of, step.tool_use_id))
                self._held = []
        for one in read_entry(entry):
            if isinstance(one, Step):
                self._at = one.at
                self._compare(one, is_attached="attachment" in entry)
            yield one
        while self._at and self._titles:
            yield from _title(self._titles.pop(0), self._at)

    def _compare(self, step: Step, *, is_attached: bool) -> None:
        """Compare an entry's step with the queue. One that is attached is removed from the queue, before or after."""
        if step.kind == PROMPT:
            found = [(text, None if text == step.text else waiting) for text, waiting in self._waiting]
            self._waiting = [one for one in found if is_attached or one[0] != step.text]
            self._held = [(text, held) for text, held in self._held if text != step.text]
        elif step.kind == TOOL_RESULT and (task := still_runs_as(step.text)):
            self._calls[task] = step.tool_use_id

    def _note(self, entry: Entry) -> None:
        text, operation = text_in(entry, "content"), entry.get("operation")
        if operation == "enqueue":
            at = time_of(entry)
            if text.startswith(_ANSWERED_MACHINE_TEXT[0]):
                self._held += [(_tagged(text, "task-id"), step) for step in _end_of_task(Message("", at), text)]
            elif text.strip() and not text.startswith(_NO_MESSAGE):
                uuid = f"{text_in(entry, 'sessionId')}/queued/{text_in(entry, 'timestamp')}"
                self._waiting.append((text, Message(uuid, at).step(PROMPT, text, starts_turn=True)))
        elif operation == "popAll":
            self._waiting = []
        elif operation == "remove" and self._waiting:
            text, step = self._waiting.pop(0)
            self._held += [(text, step)] if step else []


def entries_of_calls(calls: list[Any], at: int) -> list[Entry]:
    """Return what a transcript would have of the calls that a hook tells, which does not say whether one failed."""
    made, results = [], []
    for call in objects_in(calls):
        known, output = text_in(call, "tool_use_id"), call.get("tool_response") or ""
        made.append({"type": "tool_use", "id": known, "name": call.get("tool_name"), "input": call.get("tool_input")})
        content = output if isinstance(output, str | list) else _json(output)
        is_error = isinstance(content, str) and content.startswith(_FAILED)
        results.append({"type": "tool_result", "tool_use_id": known, "content": content, "is_error": is_error})
    first = made[0]["id"] if made else ""
    return [
        {"type": kind, "uuid": f"{first}/{kind}", "timestamp": to_text(at), "message": {"content": blocks}}
        for kind, blocks in (("assistant", made), ("user", results))
        if first
    ]


def _title(entry: Entry, at: int) -> Iterator[Step]:
    """Yield the notice of a title, tag or link. The client writes it again and again."""
    kind = text_in(entry, "type")
    text = text_in(entry, TITLES[kind]).strip()
    if text:
        of = text_in(entry, "sessionId") or text_in(entry, "leafUuid")
        uuid = f"{of}/{kind}/{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
        yield Message(uuid, time_of(entry) or at).step(NOTICE, text, tool=kind)


def _blocks(content: Any) -> list[Any]:
    """Return the blocks of a message's content. Their positions are part of the step names."""
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if isinstance(content, str) else []


def _texts(blocks: list[Any]) -> str:
    return "\n".join(text_in(block, "text") for block in objects_in(blocks) if block.get("type") == "text")


def _user(message: Message, entry: Entry) -> Iterator[Found]:
    blocks = _blocks(object_in(entry, "message").get("content"))
    if entry.get("isCompactSummary"):
        yield Summary(uuid=message.uuid, at=message.at, text=_texts(blocks))
        return
    for position, block in enumerate(blocks):
        match text_in(block, "type"):
            case "text":
                text = text_in(block, "text")
                yield _user_text(message, entry, position, text)
                if object_in(entry, "origin").get("kind") == _NOTIFICATION:
                    yield from _end_of_task(message, text)
            case "tool_result":
                yield from _tool_result(message, position, block)
            case kind if kind in _MEDIA:
                yield _medium(message, position, block, None)
            case kind:
                yield from _notice(message, block, f"{UNKNOWN}block {kind}", position)


def _user_text(message: Message, entry: Entry, position: int, text: str) -> Step:
    start, origin = text.lstrip(), object_in(entry, "origin").get("kind")
    unanswered = bool(entry.get("isMeta")) or start.startswith(_OTHER_MACHINE_TEXT)
    is_clients = origin not in {None, "human"} or start.startswith(_ANSWERED_MACHINE_TEXT)
    is_machine = unanswered or is_clients or entry.get("repeatsCompactSummary")
    return message.step(NOTICE if is_machine else PROMPT, text, position, starts_turn=not unanswered)


def _end_of_task(message: Message, text: str) -> Iterator[Step]:
    """Yield the result of the call whose command or agent ended in the background, if a notification tells it.

    The same notification may stand in the queue and in an entry, so the step has its own uuid.
    """
    call, status, summary, result = (_tagged(text, tag) for tag in ("tool-use-id", "status", "summary", "result"))
    if call and status in _ENDED:
        output = result or _output(_tagged(text, "output-file"), _tagged(text, "task-id"))
        told = output if result else "\n".join(filter(None, (summary, output)))
        sum_of = zlib.crc32(text.partition("</task-notification>")[0].encode("utf-8", "replace"))
        once = Message(f"{call}/ended/{sum_of:08x}", message.at, message.agent)
        yield once.result(told, call, is_error=status != _ENDED[0])


def _output(path: str, task: str) -> str:
    """Return the end of the output of a task, "" if its file is gone, or is another one."""
    if not task or os.path.basename(path) != f"{task}.output":
        return ""
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_OUTPUT))
            return file.read(_MOST_OUTPUT).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def _tagged(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def _tool_result(message: Message, position: int, block: Entry) -> Iterator[Step]:
    parts = _blocks(block.get("content"))
    tool_use_id = text_in(block, "tool_use_id") or None
    yield message.result(_texts(parts), tool_use_id, position, is_error=block.get("is_error") is True)
    for number, part in enumerate(parts):
        if text_in(part, "type") != "text":
            yield _medium(message, PARTS_PER_BLOCK * (position + 1) + number, part, tool_use_id)


def _medium(message: Message, position: int, block: Any, tool_use_id: str | None) -> Step:
    """Return the step of an image, a document, or a part of an unknown kind. The part is stored completely."""
    source = object_in(block, "source")
    is_encoded = isinstance(source.get("data"), str)
    text = f"data:{text_in(source, 'media_type')};{text_in(source, 'type')},{source['data']}" if is_encoded else ""
    starts_turn = tool_use_id is None and position == 0
    return message.step(ATTACHMENT, text or _json(block), position, tool_use_id=tool_use_id, starts_turn=starts_turn)


def _assistant(message: Message, entry: Entry) -> Iterator[Found]:
    is_clients = bool(entry.get("isApiErrorMessage")) or object_in(entry, "message").get("model") == _NO_MODEL
    for position, block in enumerate(_blocks(object_in(entry, "message").get("content"))):
        match text_in(block, "type"):
            case "text":
                yield message.step(NOTICE if is_clients else TEXT, text_in(block, "text"), position)
            case "thinking":  # without its signature, which only the API needs
                yield message.step(THINKING, text_in(block, "thinking"), position)
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                given = _shallow(block.get("input"))
                yield message.call(text_in(block, "name"), given, text_in(block, "id") or None, position)
            case kind if kind.endswith("_tool_result"):  # of a tool that the API ran
                content = block.get("content")
                yield message.result(strings_of(_shallow(content)), text_in(block, "tool_use_id") or None, position)
            case kind if kind not in _NO_TEXT:
                yield from _notice(message, block, f"{UNKNOWN}block {kind}", position)


def _attachment(message: Message, entry: Entry) -> Iterator[Found]:
    attachment = object_in(entry, "attachment")
    kind = text_in(attachment, "type")
    use = ATTACHMENTS.get(kind)
    if kind == "hook_additional_context":
        content = attachment.get("content")
        texts = content if isinstance(content, list) else [content]
        nonces = nonces_in("\n".join(text for text in texts if isinstance(text, str)))
        if nonces:
            yield Delivery(uuid=message.uuid, nonces=nonces)
    elif kind == "queued_command":
        yield from _queued(message, entry, attachment)
    elif use == FILE:
        yield message.step(ATTACHMENT, _attached(attachment))
    elif use in (NEWS, None):
        fields = {name: value for name, value in attachment.items() if name != "type"}
        yield from _notice(message, fields, None if use else f"{UNKNOWN}attachment {kind}")


def _queued(message: Message, entry: Entry, attachment: Entry) -> Iterator[Step]:
    """Yield what the user typed while the agent was working, or what the client put there in the same way."""
    blocks = _blocks(attachment.get("prompt"))
    text, origin = _texts(blocks), object_in(attachment, "origin")
    yield _user_text(message, {**entry, "origin": origin}, 0, text)
    if _NOTIFICATION in {origin.get("kind"), attachment.get("commandMode")}:
        yield from _end_of_task(message, text)
    for position, block in enumerate(blocks):
        if text_in(block, "type") in _MEDIA:
            yield _medium(message, position + 1, block, None)


def _attached(attachment: Entry) -> str:
    """Return the name and the content of an attached file or folder, or the attachment as JSON if its format is
    unknown.
    """
    text = object_in(object_in(attachment, "content"), "file").get("content", attachment.get("content"))
    name = text_in(attachment, "displayPath") or text_in(attachment, "filename") or text_in(attachment, "path")
    return f"{name}\n{text}" if isinstance(text, str) else _json(attachment)


def _system(message: Message, entry: Entry) -> Iterator[Found]:
    if entry.get("subtype") == "compact_boundary":
        details = object_in(entry, "compactMetadata")
        tokens = details.get("preTokens")
        yield Boundary(
            uuid=message.uuid,
            at=message.at,
            trigger=text_in(details, "trigger") or None,
            pre_tokens=tokens if isinstance(tokens, int) else None,
            kept_from=text_in(object_in(details, "preservedSegment"), "headUuid") or None,
        )
    elif (kind := text_in(entry, "subtype")) not in SYSTEM:
        yield from _notice(message, entry.get("content"), f"{UNKNOWN}system {kind}")


def _json(value: Any) -> str:
    return dump_json(_shallow(value))


def _shallow(value: Any) -> Any:
    """Return the value without fields that are nested too deep. No client nests so deep, and readers recurse."""
    if isinstance(value, dict):
        return {name: _TOO_DEEP if is_too_deep(field) else field for name, field in value.items()}
    return _TOO_DEEP if is_too_deep(value) else value


_READERS: dict[str, Callable[[Message, Entry], Iterator[Found]]] = {
    "user": _user,
    "assistant": _assistant,
    "attachment": _attachment,
    "system": _system,
}

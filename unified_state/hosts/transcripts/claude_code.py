"""Transcripts of Claude Code: the steps of each entry of a JSON Lines file.

Seen with versions 2.0.76 to 2.1.330. The reader skips unknown kinds of entries: a newer client must never break the
archive. It also skips the client's own duplicates (`toolUseResult`, `progress`, `api-request-*`) and
the client's descriptions of its surroundings (listings of tools, skills and agents, the environment).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from unified_state.hosts.transcripts.transcript_lines import Entry, Message, object_in, objects_in, text_in, time_of
from unified_state.lib.fence import nonces_in
from unified_state.lib.foreign_values import is_too_deep
from unified_state.lib.json_text import dump_json
from unified_state.lib.text import strings_of
from unified_state.model.step import (
    ATTACHMENT,
    NOTICE,
    PROMPT,
    TEXT,
    THINKING,
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
_NOTIFICATION, _ENDED = "task-notification", ("completed", "failed")
_TOLD = ("teammate_mailbox", "poll_events", "task_status")  # attachments with news for the agent
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
    """Yield the steps, boundaries, summaries and deliveries of one transcript entry, in order. Other entries yield
    nothing.
    """
    if entry.get("type") == "last-prompt" and isinstance(entry.get("leafUuid"), str):
        return iter((RewindMark(after=entry["leafUuid"]),))
    read = _READERS.get(text_in(entry, "type"))
    if read is None or not isinstance(entry.get("uuid"), str):
        return iter(())
    agent = text_in(entry, "agentId") or "sidechain" if entry.get("isSidechain") else None
    return read(Message(entry["uuid"], time_of(entry), agent), entry)


class EntryReader:
    """Reads the entries of one transcript in order, and with them what old clients tell in their queue alone.

    A message that was typed while the agent worked has an entry of its own in newer clients. Up to 2.1.42 it is only
    put into the queue and removed from it.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[str, Step | None]] = []  # None: it has an entry of its own
        self._removed: list[tuple[str, Step]] = []

    def read(self, entry: Entry) -> Iterator[Found]:
        """Yield what an entry holds, behind the messages that were removed before the agent went on."""
        match entry.get("type"):
            case "queue-operation":
                self._note(entry)
            case "assistant" if not entry.get("isSidechain"):
                yield from (step for _, step in self._removed)
                self._removed = []
        for one in read_entry(entry):
            if isinstance(one, Step) and one.kind == PROMPT:
                self._waiting = [(text, None if text == one.text else step) for text, step in self._waiting]
                self._removed = [(text, step) for text, step in self._removed if text != one.text]
            yield one

    def _note(self, entry: Entry) -> None:
        text, operation = text_in(entry, "content"), entry.get("operation")
        if operation == "enqueue":
            uuid = f"{text_in(entry, 'sessionId')}/queued/{text_in(entry, 'timestamp')}"
            self._waiting.append((text, Message(uuid, time_of(entry)).step(PROMPT, text, starts_turn=True)))
        elif operation == "popAll":
            self._waiting = []
        elif self._waiting:
            text, step = self._waiting.pop(0)
            if operation == "remove" and step is not None and text.strip() and not text.startswith(_NO_MESSAGE):
                self._removed.append((text, step))


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
        match _kind(block):
            case "text":
                text = text_in(block, "text")
                yield _user_text(message, entry, position, text)
                if object_in(entry, "origin").get("kind") == _NOTIFICATION:
                    yield from _end_of_task(message, position, text)
            case "tool_result":
                yield from _tool_result(message, position, block)
            case kind if kind in _MEDIA:
                yield _medium(message, position, block, None)


def _user_text(message: Message, entry: Entry, position: int, text: str) -> Step:
    is_machine = bool(
        entry.get("isMeta")
        or entry.get("repeatsCompactSummary")
        or object_in(entry, "origin").get("kind") not in {None, "human"}
    )
    start = text.lstrip()
    unanswered = bool(entry.get("isMeta")) or start.startswith(_OTHER_MACHINE_TEXT)
    is_machine = is_machine or unanswered or start.startswith(_ANSWERED_MACHINE_TEXT)
    return message.step(NOTICE if is_machine else PROMPT, text, position, starts_turn=not unanswered)


def _end_of_task(message: Message, position: int, text: str) -> Iterator[Step]:
    """Yield the result of the call whose command or agent ended in the background, if a notification tells it."""
    call, status, summary, result = (_tagged(text, tag) for tag in ("tool-use-id", "status", "summary", "result"))
    if call and status in _ENDED:
        block = PARTS_PER_BLOCK * (position + 1)
        yield message.result(result or summary, call, block, is_error=status != _ENDED[0])


def _tagged(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def _tool_result(message: Message, position: int, block: Entry) -> Iterator[Step]:
    content = block.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    tool_use_id = text_in(block, "tool_use_id") or None
    yield message.result(_texts(parts), tool_use_id, position, is_error=block.get("is_error") is True)
    for number, part in enumerate(parts):
        if _kind(part) != "text":
            yield _medium(message, PARTS_PER_BLOCK * (position + 1) + number, part, tool_use_id)


def _medium(message: Message, position: int, block: Any, tool_use_id: str | None) -> Step:
    """Return the step of an image, a document, or a part of an unknown kind. The part is stored completely."""
    source = object_in(block, "source") if isinstance(block, dict) else {}
    is_encoded = isinstance(source.get("data"), str)
    text = f"data:{text_in(source, 'media_type')};{text_in(source, 'type')},{source['data']}" if is_encoded else ""
    starts_turn = tool_use_id is None and position == 0
    return message.step(ATTACHMENT, text or _json(block), position, tool_use_id=tool_use_id, starts_turn=starts_turn)


def _assistant(message: Message, entry: Entry) -> Iterator[Found]:
    is_clients = bool(entry.get("isApiErrorMessage")) or object_in(entry, "message").get("model") == _NO_MODEL
    for position, block in enumerate(_blocks(object_in(entry, "message").get("content"))):
        match _kind(block):
            case "text":
                yield message.step(NOTICE if is_clients else TEXT, text_in(block, "text"), position)
            case "thinking":  # without its signature, which only the API needs
                yield message.step(THINKING, text_in(block, "thinking"), position)
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                given = _shallow(block.get("input"))
                yield message.call(text_in(block, "name"), given, text_in(block, "id") or None, position)


def _attachment(message: Message, entry: Entry) -> Iterator[Found]:
    attachment = object_in(entry, "attachment")
    match attachment.get("type"):
        case "hook_additional_context":
            content = attachment.get("content")
            texts = content if isinstance(content, list) else [content]
            nonces = nonces_in("\n".join(text for text in texts if isinstance(text, str)))
            if nonces:
                yield Delivery(uuid=message.uuid, nonces=nonces)
        case "queued_command":  # text that the user typed while the agent was working
            blocks = _blocks(attachment.get("prompt"))
            text, origin = _texts(blocks), object_in(attachment, "origin")
            yield _user_text(message, {**entry, "origin": origin}, 0, text)
            if _NOTIFICATION in {origin.get("kind"), attachment.get("commandMode")}:
                yield from _end_of_task(message, 0, text)
            for position, block in enumerate(blocks):
                if _kind(block) in _MEDIA:
                    yield _medium(message, position + 1, block, None)
        case kind if kind in _TOLD:
            text = strings_of({name: value for name, value in attachment.items() if name != "type"})
            if text:
                yield message.step(NOTICE, text)
        case "file" | "already_read_file" | "directory":  # mentioned by the user, or attached again by the client
            yield message.step(ATTACHMENT, _attached(attachment))


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


def _kind(block: Any) -> str:
    return text_in(block, "type") if isinstance(block, dict) else ""


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

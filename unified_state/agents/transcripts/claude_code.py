"""Transcripts of Claude Code: one entry of the JSON Lines file in, the steps it holds out.

Seen with versions 2.0.76 to 2.1.330. Known kinds are read, unknown ones are skipped: a newer client must never break
the archive. Left out are the client's own duplicates (`toolUseResult`, `progress`, `api-request-*`, `queue-operation`)
and what the client tells the model about its surroundings (listings of tools, skills and agents, the environment).
"""

from __future__ import annotations

from unified_state.agents.transcripts.transcript_lines import text_in, time_of
from unified_state.lib.stdlib import dump_json
from unified_state.lib.text import nonces_in
from unified_state.model.step import (
    ATTACHMENT,
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

    from unified_state.agents.transcripts.transcript_lines import Entry
    from unified_state.model.step import Found

# A tool result may hold several parts. The text is the block itself; the others (images) get numbers of their own.
PARTS_PER_BLOCK = 1000

# Levels of a JSON value that are kept. No client nests so deep, and whoever reads the archive must get down there.
_DEEPEST = 100
_TOO_DEEP = "[nested too deep]"

# Text in the user's place that the client wrote. Those of the first group open a turn: the agent answers them.
_ANSWERED_MACHINE_TEXT = ("<task-notification>", "<command-name>", "<command-message>", "<teammate-message")
_OTHER_MACHINE_TEXT = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "<system-reminder>", "[Request interrupted")


def read_entry(entry: Entry) -> Iterator[Found]:
    """The steps, boundaries, summaries and deliveries that one transcript entry holds, in order; nothing where it is no
    conversation.
    """
    read = _READERS.get(_kind(entry))
    if read is None or not isinstance(entry.get("uuid"), str):
        return iter(())
    return read(entry)


def _agent(entry: Entry) -> str | None:
    if not entry.get("isSidechain"):
        return None
    return text_in(entry, "agentId") or "sidechain"


def _blocks(entry: Entry) -> list[Any]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _user(entry: Entry) -> Iterator[Found]:
    if entry.get("isCompactSummary"):
        text = "\n".join(_text(block) for block in _blocks(entry) if _kind(block) == "text")
        yield Summary(uuid=entry["uuid"], at=time_of(entry), text=text)
        return
    for position, block in enumerate(_blocks(entry)):
        match _kind(block):
            case "text":
                yield _user_text(entry, position, _text(block))
            case "tool_result":
                yield from _tool_result(entry, position, block)
            case "image" | "document":
                yield _medium(entry, position, block, None)


def _user_text(entry: Entry, position: int, text: str) -> Step:
    origin = entry.get("origin")
    from_machine = bool(
        entry.get("isMeta")
        or entry.get("repeatsCompactSummary")
        or (isinstance(origin, dict) and origin.get("kind") not in {None, "human"})
    )
    start = text.lstrip()
    answered = start.startswith(_ANSWERED_MACHINE_TEXT)
    unanswered = bool(entry.get("isMeta")) or start.startswith(_OTHER_MACHINE_TEXT)
    return Step(
        uuid=entry["uuid"],
        block=position,
        kind=NOTICE if from_machine or answered or unanswered else PROMPT,
        at=time_of(entry),
        text=text,
        agent=_agent(entry),
        starts_turn=not unanswered,
    )


def _tool_result(entry: Entry, position: int, block: Entry) -> Iterator[Step]:
    content = block.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    tool_use_id = text_in(block, "tool_use_id") or None
    yield Step(
        uuid=entry["uuid"],
        block=position,
        kind=TOOL_RESULT,
        at=time_of(entry),
        text="\n".join(_text(part) for part in parts if _kind(part) == "text"),
        tool_use_id=tool_use_id,
        is_error=block.get("is_error") is True,
        agent=_agent(entry),
    )
    for number, part in enumerate(parts):
        if _kind(part) != "text":
            yield _medium(entry, PARTS_PER_BLOCK * (position + 1) + number, part, tool_use_id)


def _medium(entry: Entry, position: int, block: Any, tool_use_id: str | None) -> Step:
    """An image or a document, or a part of a kind that this version does not know: kept whole."""
    source = block.get("source") if isinstance(block, dict) else None
    if isinstance(source, dict) and isinstance(source.get("data"), str):
        text = f"data:{text_in(source, 'media_type')};{text_in(source, 'type')},{source['data']}"
    else:
        text = _json(block)
    return Step(
        uuid=entry["uuid"],
        block=position,
        kind=ATTACHMENT,
        at=time_of(entry),
        text=text,
        tool_use_id=tool_use_id,
        agent=_agent(entry),
        starts_turn=tool_use_id is None and position == 0,
    )


def _assistant(entry: Entry) -> Iterator[Found]:
    for position, block in enumerate(_blocks(entry)):
        match _kind(block):
            case "text":
                yield _said(entry, position, TEXT, _text(block))
            case "thinking":
                # The signature only matters to the API.
                yield _said(entry, position, THINKING, text_in(block, "thinking"))
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                yield Step(
                    uuid=entry["uuid"],
                    block=position,
                    kind=TOOL_CALL,
                    at=time_of(entry),
                    text=_json(block.get("input")),
                    tool=text_in(block, "name"),
                    tool_use_id=text_in(block, "id") or None,
                    agent=_agent(entry),
                )


def _said(entry: Entry, position: int, kind: str, text: str) -> Step:
    return Step(uuid=entry["uuid"], block=position, kind=kind, at=time_of(entry), text=text, agent=_agent(entry))


def _attachment(entry: Entry) -> Iterator[Found]:
    attachment = entry.get("attachment")
    if not isinstance(attachment, dict):
        return
    match attachment.get("type"):
        case "hook_additional_context":
            content = attachment.get("content")
            texts = content if isinstance(content, list) else [content]
            nonces = nonces_in("\n".join(text for text in texts if isinstance(text, str)))
            if nonces:
                yield Delivery(uuid=entry["uuid"], nonces=nonces)
        case "queued_command":  # what the user typed while the agent was at work
            prompt = attachment.get("prompt")
            blocks = prompt if isinstance(prompt, list) else [{"type": "text", "text": prompt or ""}]
            text = "\n".join(_text(block) for block in blocks if _kind(block) == "text")
            yield _user_text({**entry, "origin": attachment.get("origin")}, 0, text)
        case "file" | "already_read_file" | "directory":  # what the user mentioned, or the client attached again
            yield _said(entry, 0, ATTACHMENT, _attached(attachment))


def _attached(attachment: Entry) -> str:
    """The name and the content of an attached file or folder; the attachment itself where it has another shape."""
    content = attachment.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    text = file.get("content") if isinstance(file, dict) else content
    name = text_in(attachment, "displayPath") or text_in(attachment, "filename") or text_in(attachment, "path")
    return f"{name}\n{text}" if isinstance(text, str) else _json(attachment)


def _system(entry: Entry) -> Iterator[Found]:
    if entry.get("subtype") == "compact_boundary":
        details = entry.get("compactMetadata")
        details = details if isinstance(details, dict) else {}
        tokens, kept = details.get("preTokens"), details.get("preservedSegment")
        yield Boundary(
            uuid=entry["uuid"],
            at=time_of(entry),
            trigger=text_in(details, "trigger") or None,
            pre_tokens=tokens if isinstance(tokens, int) else None,
            kept_from=text_in(kept, "headUuid") or None if isinstance(kept, dict) else None,
        )


def _kind(block: Any) -> str:
    return text_in(block, "type") if isinstance(block, dict) else ""


def _text(block: Entry) -> str:
    return text_in(block, "text")


def _json(value: Any) -> str:
    return dump_json(_shallow(value, _DEEPEST))


def _shallow(value: Any, levels: int) -> Any:
    """The value without what lies deeper than so many levels."""
    if not isinstance(value, (dict, list)):
        return value
    if not levels:
        return _TOO_DEEP
    if isinstance(value, dict):
        return {name: _shallow(entry, levels - 1) for name, entry in value.items()}
    return [_shallow(entry, levels - 1) for entry in value]


_READERS: dict[str, Callable[[Entry], Iterator[Found]]] = {
    "user": _user,
    "assistant": _assistant,
    "attachment": _attachment,
    "system": _system,
}

"""What goes over the wire of the Messages API, as far as a test needs to say or to see it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["main", "subagent", "compact", "title", "count_tokens", "other"]

COMPACTION_PROMPTS = (
    "create a detailed summary of the conversation",
    "detailed summary of the conversation so far",
    "detailed summary of the RECENT portion",
    "CRITICAL: Respond with TEXT ONLY",
)
TITLE_PROMPTS = ("isNewTopic", "sentence-case title", "concise title", "generate a title")
SUBAGENT_PROMPT = "You are an agent for Claude Code"
AGENT_TOOLS = {"Bash", "Read", "Edit", "Task", "Agent"}

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Reply:
    """A message of the assistant. `input_tokens` is what the API says the request took: it drives auto-compaction."""

    content: tuple[Json, ...]
    input_tokens: int = 1000

    def message(self, model: str) -> Json:
        """The message as the API gives it when it does not stream."""
        calls_tools = any(block["type"] == "tool_use" for block in self.content)
        return {
            "id": f"msg_mock_{next(_numbers):08}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": list(self.content),
            "stop_reason": "tool_use" if calls_tools else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": self.input_tokens,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": 20,
            },
        }


@dataclass(frozen=True)
class Failure:
    """An error of the API."""

    status: int
    message: str
    type: str = "invalid_request_error"

    def body(self) -> Json:
        return {"type": "error", "error": {"type": self.type, "message": self.message}}


@dataclass(frozen=True)
class Request:
    """One call of the client."""

    path: str
    body: Json

    @property
    def kind(self) -> Kind:
        """Who asks for what, told by the words of the client's own prompts."""
        if not self.path.endswith("/messages"):
            return "count_tokens" if self.path.endswith("/count_tokens") else "other"
        asked, system = self.last_user_text(), flat_text(self.body.get("system") or "")
        if any(prompt in asked for prompt in COMPACTION_PROMPTS):
            return "compact"
        if any(prompt in system for prompt in TITLE_PROMPTS):
            return "title"
        if SUBAGENT_PROMPT in system:
            return "subagent"
        return "main" if AGENT_TOOLS & {tool.get("name") for tool in self.body.get("tools") or []} else "other"

    def texts(self) -> Iterator[tuple[str, str]]:
        """The role and the text of every block of the conversation, the text inside tool results included."""
        for message in self.body.get("messages", []):
            for block in as_blocks(message["content"]):
                said = block.get("text") or block.get("thinking")
                yield message["role"], said or flat_text(block.get("content") or "")

    def find(self, needle: str) -> list[tuple[str, str]]:
        """The (role, text) of the blocks that contain `needle`."""
        return [(role, said) for role, said in self.texts() if needle in said]

    def last_user_text(self) -> str:
        """The text of the last user message; newer models may have a message of the role `system` behind it."""
        said = [flat_text(message["content"]) for message in self.body.get("messages", []) if message["role"] == "user"]
        return said[-1] if said else ""


def text(content: str) -> Json:
    """A text block."""
    return {"type": "text", "text": content}


def thinking(content: str) -> Json:
    """A thinking block; nobody here checks the signature."""
    return {"type": "thinking", "thinking": content, "signature": "c2lnbmF0dXJl"}


def tool(name: str, **tool_input: Any) -> Json:
    """A tool call."""
    return {"type": "tool_use", "id": f"toolu_mock_{next(_numbers):08}", "name": name, "input": tool_input}


def bash(command: str) -> Json:
    """A call of the Bash tool."""
    return tool("Bash", command=command)


def reply(*content: str | Json, input_tokens: int = 1000) -> Reply:
    """A message of the assistant from texts and blocks."""
    return Reply(tuple(text(block) if isinstance(block, str) else block for block in content), input_tokens)


def as_blocks(content: str | list[Json]) -> list[Json]:
    """A message's or a tool result's content as blocks."""
    return [text(content)] if isinstance(content, str) else content


def flat_text(content: str | list[Json]) -> str:
    """The text of a message's or a tool result's content."""
    return "\n".join(block.get("text", "") for block in as_blocks(content))


def stream(message: Json) -> Iterator[Json]:
    """The events by which the API streams `message`."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        start, deltas = _unfold(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _unfold(block: Json) -> tuple[Json, list[Json]]:
    """A content block as it starts, empty, and what then fills it."""
    match block["type"]:
        case "text":
            return text(""), [{"type": "text_delta", "text": block["text"]}]
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case _:
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]

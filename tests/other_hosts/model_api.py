"""A scripted stand-in for the APIs of three vendors' models: OpenAI's responses and chat completions, Gemini's content.

A request is told apart by its path, and what it is for by the words of the host's own prompts. It is remembered before
it is answered, without its headers, so no key is kept.
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tests.sandboxed.scripted_api import Json, Response, ScriptedApi, events_response, json_response

Kind: TypeAlias = Literal["main", "compact", "title", "other"]

_COMPACTIONS = (
    "CONTEXT CHECKPOINT COMPACTION",
    "Generate a new <state_snapshot>",
    "Critically evaluate the <state_snapshot>",
    "anchored summary",
    "Provide a detailed prompt",
)
_TITLES = ("Generate a title for this conversation",)
_PATHS = ("/responses", "GenerateContent", "generateContent", "/chat/completions")

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Say:
    """An answer of the model: a text, or a call of the tool named. `tokens` is what the request is said to have taken;
    it drives compaction.
    """

    text: str = "ok"
    tool: str = ""
    fields: Json | None = None
    tokens: int = 1000


@dataclass(frozen=True)
class Asked:
    """One request of a host."""

    path: str
    body: Json

    @property
    def text(self) -> str:
        """All that the request says, in order."""
        return "\n".join(_strings(self.body))

    @property
    def kind(self) -> Kind:
        """What it is for."""
        if not any(path in self.path for path in _PATHS):
            return "other"
        said = "\n".join(_strings({name: part for name, part in self.body.items() if name != "tools"}))
        if any(words in said for words in _TITLES):
            return "title"
        return "compact" if any(words in said for words in _COMPACTIONS) else "main"


class ModelApi(ScriptedApi):
    """The APIs, all at one address."""

    def __init__(self, listener: socket.socket) -> None:
        self.requests: list[Asked] = []
        self.summary = "MOCK-SUMMARY"
        self._script: deque[Say] = deque()
        self._lock = threading.Lock()
        super().__init__(listener)

    def script(self, *answers: Say | str) -> None:
        """What the model answers next, in the conversation itself."""
        self._script.extend(Say(answer) if isinstance(answer, str) else answer for answer in answers)

    def of(self, kind: Kind) -> list[Asked]:
        """The requests of a kind, in the order they came in."""
        return [asked for asked in self.requests if asked.kind == kind]

    def answer(self, asked: Asked) -> Say:
        """The answer to a request, which is remembered."""
        with self._lock:
            self.requests.append(asked)
            if asked.kind == "compact":
                return Say(self.summary)
            return self._script.popleft() if asked.kind == "main" and self._script else Say()

    def respond(self, path: str, body: Json | None) -> Response:
        """The answer as the vendor whose path it is would give it."""
        asked = Asked(path, body or {})
        if body is None or asked.kind == "other":
            return json_response({}, 404)
        answer = self.answer(asked)
        if "/responses" in path:
            return events_response(_response(answer))
        if "/chat/completions" in path:
            return events_response(_completion(answer), ending="data: [DONE]\n\n")
        return events_response([_content(answer)]) if "stream" in path else json_response(_content(answer))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _response(answer: Say) -> list[Json]:
    """The events of the Responses API."""
    number = next(_numbers)
    item: Json = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer.text}]}
    if answer.tool:
        arguments = json.dumps(answer.fields or {})
        item = {"type": "function_call", "call_id": f"call_{number}", "name": answer.tool, "arguments": arguments}
    item["id"] = f"item_{number}"
    used = {"input_tokens": answer.tokens, "output_tokens": 10, "total_tokens": answer.tokens + 10}
    response = {"id": f"resp_{number}", "output": [item], "usage": used}
    return [
        {"type": "response.created", "response": {"id": response["id"]}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]


def _completion(answer: Say) -> list[Json]:
    """The chunks of the chat completions API."""
    delta: Json = {"role": "assistant", "content": answer.text}
    if answer.tool:
        called = {"name": answer.tool, "arguments": json.dumps(answer.fields or {})}
        call = {"index": 0, "id": f"call_{next(_numbers)}", "type": "function", "function": called}
        delta = {"role": "assistant", "tool_calls": [call]}
    used = {"prompt_tokens": answer.tokens, "completion_tokens": 5, "total_tokens": answer.tokens + 5}
    chunk = {"id": "chunk", "object": "chat.completion.chunk", "model": "m"}
    finish = "tool_calls" if answer.tool else "stop"
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": used},
    ]


def _content(answer: Say) -> Json:
    """What generateContent gives."""
    part: Json = {"text": answer.text}
    if answer.tool:
        part = {"functionCall": {"name": answer.tool, "args": answer.fields or {}}}
    used = {"promptTokenCount": answer.tokens, "candidatesTokenCount": 5, "totalTokenCount": answer.tokens + 5}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": used, "modelVersion": "mock"}

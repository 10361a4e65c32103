"""Transcripts in the shapes that the real client writes (2.1.330): one JSON entry a line, chained by `parentUuid`."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

Json = dict[str, Any]

_BEGIN = datetime(2026, 11, 21, 9, tzinfo=UTC)
_WORDS = (
    "cache",
    "token",
    "parser",
    "retry",
    "schema",
    "lock",
    "index",
    "budget",
    "archive",
    "session",
    "hook",
    "queue",
)


class Transcript:
    """A session that is being written. The seed gives uuids and texts, so that the same calls give the same bytes."""

    def __init__(self, session_id: str, seed: int = 0, cwd: str = "/home/dev/proj", parent: str | None = None) -> None:
        self.session_id, self.cwd = session_id, cwd
        self.lines: list[bytes] = []
        self._random = random.Random(f"{session_id}/{seed}")
        self._parent = parent
        self._messages = 0

    @property
    def content(self) -> bytes:
        """The file's bytes."""
        return b"".join(self.lines)

    def write(self, path: Path) -> Path:
        """Write the file, or bring it up to date; the client only ever appends to it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.stat().st_size if path.exists() else 0
        with path.open("ab") as file:
            file.write(self.content[there:])
        return path

    def fork(self, session_id: str) -> Transcript:
        """The session that `--fork-session` makes of this one: copied entries keep their uuids."""
        fork = Transcript(session_id, cwd=self.cwd)
        fork.lines = [_with_session(line, self.session_id, session_id) for line in self.lines]
        fork._parent = self._parent
        return fork

    def prompt(self, text: str | list[Json], **fields: object) -> str:
        """What the user typed; the entry's uuid."""
        return self.entry("user", message={"role": "user", "content": text}, permissionMode="default", **fields)

    def says(self, *blocks: Json, **fields: object) -> None:
        """An answer of the model: one entry for each of its blocks, all of one message."""
        self._messages += 1
        for number, block in enumerate(blocks):
            message = {
                "id": f"msg_{self.session_id}_{self._messages}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5-20250929",
                "content": [block],
                "stop_reason": "end_turn" if block["type"] == "text" else "tool_use",
                "usage": {"input_tokens": 1000, "output_tokens": 20, "cache_read_input_tokens": 0},
            }
            self.entry("assistant", message=message, apiBlockIndex=number, **fields)

    def text(self, text: str, **fields: object) -> None:
        """An answer that is only text."""
        self.says({"type": "text", "text": text}, **fields)

    def call(self, tool: str, tool_input: object, result: str | list[Json], *, error: bool = False) -> str:
        """A tool call and its result, which the client repeats in `toolUseResult`; the id of the call."""
        use = f"toolu_{self._random.getrandbits(64):016x}"
        self.says({"type": "tool_use", "id": use, "name": tool, "input": tool_input})
        block = {"tool_use_id": use, "type": "tool_result", "content": result, "is_error": error}
        self.entry("user", message={"role": "user", "content": [block]}, toolUseResult={"stdout": result, "stderr": ""})
        return use

    def selects(self, question: str, option: str) -> None:
        """A question that the user left with an option selected and not sent: the answer is only proposed."""
        asked = {"questions": [{"question": question, "options": [{"label": option}]}]}
        unsent = f'No answer in time.\nBefore going idle the user had selected: "{question}"="{option}".'
        self.call("AskUserQuestion", asked, unsent)

    def turn(self, number: int, size: int = 200) -> None:
        """A whole turn of made-up work, with a tool result of about so many characters."""
        self.prompt(f"Turn {number}: {self.prose(60)}")
        self.says({"type": "thinking", "thinking": self.prose(80), "signature": "bW9j"}, _text(self.prose(40)))
        self.call("Bash", {"command": f"pytest -q tests/{number}"}, self.prose(size))
        self.text(f"Done with turn {number}: {self.prose(80)}")

    def compaction(self, summary: str, trigger: str = "manual") -> str:
        """What a compaction leaves: the boundary, the summary, and after a manual one the echo; the boundary's uuid."""
        details = {"trigger": trigger, "preTokens": 150_000, "postTokens": 3_000}
        boundary = self.entry("system", subtype="compact_boundary", content="compacted", compactMetadata=details)
        message = {"role": "user", "content": f"This session is being continued.\n\nSummary:\n{summary}"}
        self.entry("user", message=message, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        if trigger == "manual":
            echo = {"role": "user", "content": "<local-command-stdout>Compacted</local-command-stdout>"}
            self.entry("user", message=echo, repeatsCompactSummary=True)
        return boundary

    def entry(self, kind: str, **fields: object) -> str:
        """Any entry with the fields that all of the conversation have; its uuid."""
        uuid = str(UUID(int=self._random.getrandbits(128), version=4))
        moment = _BEGIN + timedelta(seconds=len(self.lines))
        entry = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            "uuid": uuid,
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": "2.1.330",
            "gitBranch": "main",
            **fields,
        }
        self._parent = uuid
        self.raw(entry)
        return uuid

    def raw(self, value: object) -> None:
        """A line of its own shape: what the client keeps for itself, or what nobody should have written."""
        text = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
        self.lines.append(text + b"\n")

    def prose(self, size: int) -> str:
        """About so many characters of words, without meaning."""
        return " ".join(self._words(size))

    def _words(self, size: int) -> Iterator[str]:
        while size > 0:
            word = self._random.choice(_WORDS)
            size -= len(word) + 1
            yield word


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _with_session(line: bytes, before: str, after: str) -> bytes:
    entry = json.loads(line)
    if "sessionId" in entry:
        entry["sessionId"] = after
    if entry.get("type") == "assistant":
        entry["requestSessionId"] = before
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"

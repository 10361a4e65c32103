"""Transcripts of any size in the client's shape, the same for the same seed.

A turn is a prompt, a few tool calls with their results (1 to 20 KB, which the client writes twice: as the message and
as `toolUseResult`), and a closing text; one content block an entry, as recent clients write. About 5 KB an entry.
"""

from __future__ import annotations

import json
import math
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_WORD_LIST = """
cache token parser retry schema lock index budget archive session hook compact merge branch commit
test fixture timeout worker queue payload render login auth cookie migration column route handler
stream buffer socket signal thread config flag module import export build deploy metric trace span
error null undefined promise async await
"""
_WORDS = _WORD_LIST.split()
_FILES = [
    f"src/{folder}/{name}.{ending}"
    for folder in ("api", "core", "web", "jobs", "auth", "db")
    for name in ("index", "handlers", "models", "client", "queue", "views")
    for ending in ("py", "ts")
]
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

Entry = dict[str, Any]


class Generator:
    """Writes the entries of one session."""

    def __init__(self, session_id: str, seed: int = 1, result_bytes: tuple[int, int] = (1_000, 20_000)) -> None:
        self._random = random.Random(seed)
        self._session_id = session_id
        self._least, self._most = (math.log(size) for size in result_bytes)
        self._pool = [self._text(result_bytes[1]) for _ in range(24)]
        self._parent: str | None = None
        self._seconds = 0
        self._turn = 0

    def turn(self) -> Iterator[Entry]:
        """The entries of the next turn."""
        words, files = self._random.choice(_WORDS), self._random.choice(_FILES)
        prompt = (
            f"Turn {self._turn}: please fix the {words} bug in {files} (ticket T-{self._turn:05}). {self._text(200)}"
        )
        yield self._entry("user", {"role": "user", "content": prompt})
        for _ in range(self._random.randint(2, 6)):
            yield from self._tool_call()
        closing = f"Done with turn {self._turn}: fixed {words} in {files}. {self._text(600)}"
        yield self._said({"type": "text", "text": closing}, self._id("msg"))
        self._turn += 1

    def _tool_call(self) -> Iterator[Entry]:
        use, message, path = self._id("toolu"), self._id("msg"), f"/home/dev/project/{self._random.choice(_FILES)}"
        name, given = self._random.choice(
            [
                ("Read", {"file_path": path}),
                ("Bash", {"command": f"pytest -q {path}", "description": "run tests"}),
                ("Grep", {"pattern": self._random.choice(_WORDS), "path": "/home/dev/project/src"}),
                ("Edit", {"file_path": path, "old_string": self._text(300), "new_string": self._text(400)}),
                ("Write", {"file_path": path, "content": self._text(1_500)}),
            ]
        )
        if self._random.random() < 0.4:
            yield self._said({"type": "text", "text": f"Let me look at {path}."}, message)
        yield self._said({"type": "tool_use", "id": use, "name": name, "input": given}, message)
        size = int(math.exp(self._random.uniform(self._least, self._most)))
        result = self._random.choice(self._pool)[:size]
        block = {"tool_use_id": use, "type": "tool_result", "content": result}
        entry = self._entry("user", {"role": "user", "content": [block]})
        yield {**entry, "toolUseResult": {"stdout": result, "stderr": "", "interrupted": False}}

    def _said(self, block: Entry, message_id: str) -> Entry:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 90_000, "output_tokens": 300, "service_tier": "standard"}
        message = {"id": message_id, "type": "message", "role": "assistant", "content": [block], "usage": usage}
        return self._entry("assistant", {**message, "model": "claude-opus-5-5", "stop_reason": None})

    def _entry(self, kind: str, message: Entry) -> Entry:
        self._seconds += self._random.randint(1, 9)
        own = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        parent, self._parent = self._parent, own
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/project",
            "sessionId": self._session_id,
            "version": "2.1.330",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": own,
            "timestamp": (_BEGIN + timedelta(seconds=self._seconds)).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self._random.getrandbits(96):024x}"

    def _text(self, size: int) -> str:
        lines: list[str] = []
        length = 0
        while length < size:
            lines.append(" ".join(self._random.choices(_WORDS, k=self._random.randint(5, 14))))
            length += len(lines[-1]) + 1
        return "\n".join(lines)[:size]


def line(entry: Entry) -> str:
    """An entry as a line of the file."""
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def write_transcript(path: Path, messages: int, session_id: str, seed: int = 1) -> int:
    """Write a transcript of at least so many messages; the number of turns."""
    generator, written, turns = Generator(session_id, seed), 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < messages:
            entries = list(generator.turn())
            file.writelines(map(line, entries))
            written, turns = written + len(entries), turns + 1
    return turns


def write_many_turns(path: Path, turns: int, session_id: str, seed: int = 2) -> None:
    """Write a transcript of many short turns, for an archive that is long rather than wide."""
    generator = Generator(session_id, seed, result_bytes=(200, 400))
    with path.open("w", encoding="utf-8") as file:
        for _ in range(turns):
            file.writelines(map(line, list(generator.turn())))

"""Transcripts as the benchmarks read them: by themselves, not through the product that they measure. Those of Codex are
brought into the form of Claude Code's.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.codex_rollouts import converted, is_codex

Entry = dict[str, Any]


class Call(NamedTuple):
    """A tool call with the text of its result."""

    tool: str
    given: Entry
    result: str

    @property
    def file(self) -> str | None:
        """The name of the file that was read or edited, if one was."""
        path = self.given.get("file_path")
        return path.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(path, str) else None

    @property
    def command(self) -> str:
        """The command that was run; empty for other tools."""
        command = self.given.get("command") if self.tool == "Bash" else None
        return command if isinstance(command, str) else ""


def find_transcripts(folder: Path) -> list[Path]:
    """The sessions' transcripts in a folder and below it, packed or not, in a fixed order; subagents' are left out."""
    found = [*folder.rglob("*.jsonl"), *folder.rglob("*.jsonl.xz")]
    return sorted(path for path in found if not path.name.startswith("agent-"))


def read_lines(path: Path) -> list[str]:
    """The lines of a transcript. Only a line feed ends one: JSON may hold the other line separators as they are."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode("utf-8", "replace")
    return [line for line in text.split("\n") if line.strip()]


def parse(line: str) -> Entry:
    """The entry of a line; an empty one where the line holds none."""
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def parse_all(lines: list[str]) -> list[Entry]:
    """The entry of each line of a transcript, of Codex too."""
    entries = list(map(parse, lines))
    return list(map(converted, entries)) if entries and is_codex(entries[0]) else entries


def is_conversation(entry: Entry) -> bool:
    """Whether user or agent say something there, in the conversation itself."""
    return entry.get("type") in {"user", "assistant"} and not entry.get("isSidechain") and not entry.get("isMeta")


def blocks(entry: Entry) -> list[Entry]:
    """The content blocks of an entry."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def said(entry: Entry) -> str:
    """All that an entry says: texts, tool inputs, results; not the thinking, which nobody can use later."""
    texts: list[str] = []
    for block in blocks(entry):
        match block.get("type"):
            case "text":
                texts += strings(block.get("text"))
            case "tool_use":
                texts += strings(block.get("input"))
            case "tool_result":
                texts.append(result_of(block))
    return "\n".join(texts)


def strings(value: Any) -> list[str]:
    """All strings in a JSON value, as UTF-8 can hold them: JSON can escape half an emoji."""
    if isinstance(value, str):
        return [value.encode("utf-8", "replace").decode("utf-8")]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for part in value for text in strings(part)] if isinstance(value, list) else []


def calls(entries: Iterable[Entry]) -> Iterator[Call]:
    """Every tool call, in order, with the result that it had."""
    found = [(entry["type"], block) for entry in entries for block in blocks(entry)]
    results = {block.get("tool_use_id"): result_of(block) for _, block in found if block.get("type") == "tool_result"}
    for speaker, block in found:
        if speaker == "assistant" and block.get("type") == "tool_use":
            given = block.get("input")
            yield Call(
                str(block.get("name")), given if isinstance(given, dict) else {}, results.get(block.get("id"), "")
            )


def result_of(block: Entry) -> str:
    """The text of a tool's result."""
    content = block.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(text for part in parts if isinstance(part, dict) for text in strings(part.get("text")))

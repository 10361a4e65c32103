"""What a transcript says and what an archive kept, in a form that can be compared.

Written without the product's reader, so that two readers must agree: each prompt, text, tool call and tool result by
the uuid of its entry, its kind and its content, counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from .transcripts import Json

Said = Counter[tuple[str, str, str]]

_KINDS = {"prompt": "user text", "notice": "user text", "text": "text", "tool_call": "call", "tool_result": "result"}


def said(transcript: bytes) -> Said:
    """What a transcript's conversation holds; lines that are no JSON are nobody's."""
    return Counter(part for entry in _entries(transcript) for part in _parts(entry))


def kept(lines: Iterable[Json]) -> Said:
    """The same of what `export` printed."""
    return Counter((line["uuids"][0], _KINDS[line["kind"]], _content(line)) for line in lines if line["kind"] in _KINDS)


def _entries(transcript: bytes) -> list[Json]:
    entries = []
    for line in transcript.split(b"\n"):
        try:
            entry = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and entry.get("type") in {"user", "assistant", "attachment"}:
            entries.append(entry)
    return entries


def _parts(entry: Json) -> list[tuple[str, str, str]]:
    if entry.get("isCompactSummary"):
        return []
    if entry["type"] == "attachment":
        attachment = entry["attachment"]
        queued = attachment["type"] == "queued_command"
        return [(entry["uuid"], "user text", _joined(attachment["prompt"]))] if queued else []
    content = entry["message"]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    by_user = entry["type"] == "user"
    found = []
    for block in blocks:
        if block["type"] == "text":
            found.append((entry["uuid"], "user text" if by_user else "text", str(block["text"])))
        elif block["type"] == "tool_use":
            found.append((entry["uuid"], "call", _call(block["name"], block["input"])))
        elif block["type"] == "tool_result":
            found.append((entry["uuid"], "result", _joined(block.get("content") or "")))
    return found


def _content(line: Json) -> str:
    if line["kind"] == "tool_call":
        return _call(line["tool"], line["input"])
    return str(line["result"] if line["kind"] == "tool_result" else line["text"])


def _call(tool: str, given: object) -> str:
    return f"{tool} {json.dumps(given, sort_keys=True)}"


def _joined(content: str | list[Json]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")

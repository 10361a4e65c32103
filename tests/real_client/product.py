"""What the product keeps and gives back, beside what stands in the client's transcripts."""

from __future__ import annotations

import json
from collections import Counter

from .messages import Json

ENDED = "ended"
BRIEF_MARK, WORKING_SET_MARK = "[CONTEXT RESTORED]", "[LAST STEPS]"


def said(entries: list[Json]) -> Counter[tuple[str, str]]:
    """Every prompt, assistant text, tool call and tool result of a transcript: uuid of the entry, and its text.

    Written without the product's reader, so that both must agree.
    """
    found: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        if entry.get("type") not in {"user", "assistant"} or entry.get("isCompactSummary"):
            continue
        content = entry["message"]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] in {"text", "tool_use", "tool_result"}:
                found[entry["uuid"], _text(block)] += 1
    return found


def kept(lines: list[Json]) -> Counter[tuple[str, str]]:
    """The same of what `export` printed."""
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        if line["kind"] in {"prompt", "notice", "text"}:
            found[line["uuids"][0], line["text"]] += 1
        elif line["kind"] == "tool_call":
            found[line["uuids"][0], json.dumps(line["input"], sort_keys=True)] += 1
        elif line["kind"] == "tool_result":
            call, ended, _ = line["uuids"][0].partition(f"/{ENDED}/")  # told by a notification, wherever it stands
            found[call + ended.rstrip("/"), line["result"]] += 1
    return found


def _text(block: Json) -> str:
    if block["type"] == "tool_use":
        return json.dumps(block["input"], sort_keys=True)
    if block["type"] == "text":
        return str(block["text"])
    content = block.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")

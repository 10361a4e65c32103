"""Reading the client's transcripts in tests: straightforward, independent of the product's reader."""

from __future__ import annotations

import json
from collections.abc import Iterable

from .messages import Json, as_blocks, flat_text


def read_entries(transcript: bytes) -> list[Json]:
    """The entries of a transcript; a last line without its end is left out."""
    return [json.loads(line) for line in transcript.splitlines(keepends=True) if line.endswith(b"\n")]


def dialogue(entries: Iterable[Json]) -> list[tuple[str, str]]:
    """The (type, text) of the conversation's entries, in order; tool calls and results without text are empty."""
    return [(e["type"], flat_text(e["message"]["content"])) for e in entries if e["type"] in ("user", "assistant")]


def attachments(entries: Iterable[Json], kind: str) -> list[Json]:
    """The attachments of one kind."""
    found = (entry["attachment"] for entry in entries if entry["type"] == "attachment")
    return [attachment for attachment in found if attachment["type"] == kind]


def tool_results(entries: Iterable[Json]) -> dict[str, Json]:
    """The tool results by the id of their call."""
    blocks = (block for entry in entries if entry["type"] == "user" for block in as_blocks(entry["message"]["content"]))
    return {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}


def uuids(entries: Iterable[Json]) -> list[str]:
    """The uuids of the entries that have one, in order."""
    return [entry["uuid"] for entry in entries if "uuid" in entry]

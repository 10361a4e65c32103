"""What a run did, counted from the client's own transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.transcripts import blocks, parse

Json = dict[str, Any]
READERS = {"Read", "NotebookRead"}


def repeated(lines: Iterable[str]) -> dict[str, int]:
    """Count the files read again and the commands run again after the first break, that were read or run before it.

    A break is a compaction, or the beginning of another session.
    """
    known: dict[str, set[str]] = {"files": set(), "commands": set()}
    again: dict[str, set[str]] = {"files": set(), "commands": set()}
    broken, session = False, None
    compactions = 0
    for entry in map(parse, lines):
        compactions += entry.get("subtype") == "compact_boundary"
        changed = session is not None and entry.get("sessionId") not in {None, session}
        broken = broken or changed or entry.get("subtype") == "compact_boundary"
        session = entry.get("sessionId") or session
        for kind, what in _used(entry):
            if broken and what in known[kind]:
                again[kind].add(what)
            elif not broken:
                known[kind].add(what)
    counts = {"files_read_again": len(again["files"]), "commands_run_again": len(again["commands"])}
    return {**counts, "compactions": compactions}


def _used(entry: Json) -> list[tuple[str, str]]:
    found = []
    for block in blocks(entry) if entry.get("type") == "assistant" else []:
        given = block.get("input") if block.get("type") == "tool_use" else None
        if isinstance(given, dict) and block.get("name") in READERS:
            found.append(("files", str(given.get("file_path"))))
        elif isinstance(given, dict) and block.get("name") == "Bash":
            found.append(("commands", str(given.get("command")).strip()))
    return found


def tokens(usages: Sequence[Json]) -> int:
    """All tokens of a run, in and out, from the cache too."""
    kinds = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage.get(kind) or 0 for usage in usages for kind in kinds)

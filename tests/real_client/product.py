"""unified-state inside a scenario: installed into its project, asked by its command line, compared with the
transcripts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from .messages import Json
from .scenario import Scenario

PROGRAM = Path(sys.prefix) / "bin" / "unified-state"
BRIEF_MARK, WORKING_SET_MARK = "[CONTEXT RESTORED]", "[LAST TURNS]"


class Product:
    """The product as a user of the scenario's project has it."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def run(self, *arguments: str, check: bool = True, stdin: str = "") -> str:
        """What a command prints."""
        return self._scenario.run_program(PROGRAM, *arguments, check=check, stdin=stdin).stdout

    def install(self) -> None:
        """Put the hooks into the project."""
        self.run("install")

    def export(self, session_id: str | None = None) -> list[Json]:
        """Every archived step."""
        chosen = ("--session", session_id) if session_id else ()
        return [json.loads(line) for line in self.run("export", *chosen).splitlines()]

    def log(self) -> str:
        """What went wrong in hooks; empty where nothing did."""
        path = self._scenario.home / ".local/share/unified-state/hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def health(self) -> dict[str, bool]:
        """The checks of `doctor` by name."""
        return {check["name"]: check["ok"] for check in json.loads(self.run("doctor", "--json", check=False))}


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
            found[line["uuids"][0], line["result"]] += 1
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

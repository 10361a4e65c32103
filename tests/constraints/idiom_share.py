"""The share of hand-written commands that a constraint stops, counted over `idioms.toml`."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from unified_state.constraints.rules.judge_call import Forms, Judge
from unified_state.model.constraint import EnforcedRow

ROOT = "/project"
_TOOLS = ("Edit", "Glob", "Grep", "MultiEdit", "NotebookEdit", "Read", "Write", "mcp__")
_PATTERNS = {"command": "commands", "path": "paths", "tool": "tools"}


class Idiom(NamedTuple):
    """A command (or call of a tool) as its author wrote it, and whether it breaks the rule."""

    scope: str
    voice: str
    text: str
    breaks: bool


def idioms() -> Iterator[Idiom]:
    """Yield all idioms."""
    rules = tomllib.loads(Path(__file__).with_name("idioms.toml").read_text())["rules"]
    for rule in rules:
        for name in ("breaks", "passes"):
            for voice, texts in rule[name].items():
                yield from (Idiom(rule["scope"], voice, text, name == "breaks") for text in texts)


def is_stopped(idiom: Idiom) -> bool:
    """Return whether the rule stops the call."""
    kind, _, pattern = idiom.scope.partition(":")
    patterns = {_PATTERNS[kind]: (pattern,)}
    rule = EnforcedRow("C1", "a rule", "me", "user_said", "2026-01-01T00:00:00Z", "deny", "deny").replace(**patterns)
    return bool(Judge(*_call(idiom.text), _locate).breaches([rule]))


def _call(text: str) -> tuple[str, dict[str, Any]]:
    tool, *fields = text.split(" ")
    if not tool.startswith(_TOOLS):
        return "Bash", {"command": text}
    given = (field.split("=", 1) for field in fields)
    return tool, {name: json.loads(value) if value[:1] in ("[", "{") else value for name, value in given}


def _locate(path: str, folder: str) -> Forms:
    """Return where a path leads in a world without links."""
    absolute = os.path.normpath(os.path.join(ROOT, folder, path))
    relative = os.path.relpath(absolute, ROOT)
    return Forms((absolute,), () if relative.startswith("..") else (relative,))


def share() -> str:
    """Return the sentence of the documentation."""
    breaking = [is_stopped(one) for one in idioms() if one.breaks]
    passing = [is_stopped(one) for one in idioms() if not one.breaks]
    stopped = f"{sum(breaking)} of {len(breaking)} that break a rule are stopped"
    return f"{stopped}, and {sum(passing)} of {len(passing)} harmless ones"


if __name__ == "__main__":
    print(share())
    for one in idioms():
        if is_stopped(one) != one.breaks:
            print("missed " if one.breaks else "BLOCKED", one.scope, repr(one.text))

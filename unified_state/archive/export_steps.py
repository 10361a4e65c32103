"""Export: every archived step as one JSON value, the user's own copy of history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import known_session
from unified_state.archive.steps import find_step, step_numbers
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.times import to_text
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_FILE, TOOL_RESULT, Step


def export_steps(archive: Archive, session_id: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the steps of a session, or of all, in order. A fork includes the shared part. Raises NotFoundError."""
    if session_id is None:
        sessions = archive.rows("SELECT id, session_id FROM session ORDER BY id")
    else:
        sessions = [(known_session(archive, session_id), session_id)]
    for number, name in sessions:
        tools: dict[str, str] = {}
        for step_number in step_numbers(archive, number):
            step = find_step(archive, step_number)
            if step is None:
                continue  # another process has just forgotten it
            if step.kind == TOOL_CALL and step.tool_use_id and step.tool:
                tools[step.tool_use_id] = step.tool
            yield export_line(step_number, step, name, tools.get(step.tool_use_id or ""))


def export_line(number: int, step: Step, session_id: str, tool: str | None) -> dict[str, Any]:
    """Return one step as `export` prints it. `tool` is the tool that a result belongs to."""
    line: dict[str, Any] = {"ref": f"S{number}", "uuids": [step.uuid], "session_id": session_id, "kind": step.kind}
    if step.agent:
        line["agent"] = step.agent
    if step.kind == TOOL_CALL:
        line |= {"tool": step.tool, "input": _input(step.text)}
    elif step.kind in {TOOL_RESULT, TOOL_FILE}:
        line |= {"tool": tool, "result": step.text, "is_error": step.is_error}
    else:
        line["text"] = step.text
    if step.tool_use_id:
        line["tool_use_id"] = step.tool_use_id
    return {**line, "timestamp": to_text(step.at)}


def as_markdown(line: dict[str, Any]) -> str:
    """Return an exported step as Markdown: the user's words as a quotation, the agent's as they are, everything else in
    a fence that its text cannot end.
    """
    names = (line["ref"], line["kind"], line.get("tool"), line.get("agent"), line["timestamp"][:16] + "Z")
    given = line["input"] if "input" in line else line.get("result", line.get("text"))
    text = given if isinstance(given, str) else dump_json(given)
    if line["kind"] == PROMPT:
        text = "\n".join(f"> {one}" for one in text.split("\n"))
    elif line["kind"] != TEXT:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        text = f"{fence}\n{text}\n{fence}"
    return f"### {' '.join(filter(None, names))}\n\n{text}\n"


def _input(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text

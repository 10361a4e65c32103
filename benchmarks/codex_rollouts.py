"""Codex's rollouts as the benchmarks read them: each line as an entry in the form of Claude Code's transcripts.

They are read here by themselves, not through the product that is measured. A patch becomes an edit of each of its
pieces, with the lines that were replaced. Where Codex keeps its summary encrypted, what the user said and the
conversation still holds stands for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

Entry = dict[str, Any]

_NOT_THE_USERS = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
_SHOWS_ONE_FILE = re.compile(
    r"(?:nl -ba|sed -n '?[\d,p]+'?|cat|head -\S+|tail -\S+) ([\w./@~-]+)(?: \| sed -n '?[\d,p]+'?)?"
)
_HEAD = re.compile(r"\A(?:(?!Output:\n).*\n){0,8}Output:\n")
_PATCH = re.compile(r"\*\*\* Begin Patch\n.*?\*\*\* End Patch", re.DOTALL)
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)


def is_codex(first: Entry) -> bool:
    """Whether a file that begins with this line is a rollout."""
    return first.get("type") == "session_meta"


def converted(line: Entry) -> Entry:
    """The entry of a line; an empty one for what is no part of the conversation."""
    payload = line.get("payload")
    if not isinstance(payload, dict):
        return {}
    match line.get("type"):
        case "session_meta":
            entry: Entry = {"cwd": payload.get("cwd")}
        case "compacted":
            text = payload.get("message") or "\n".join(_kept(payload))
            entry = {"subtype": "compact_boundary", "isCompactSummary": True, **_says("user", _text(text))}
        case "response_item":
            entry = _item(payload)
        case _:
            entry = {}
    return {"timestamp": line.get("timestamp"), "uuid": str(line.get("timestamp")), **entry} if entry else {}


def _item(payload: Entry) -> Entry:
    match payload.get("type"):
        case "message" if payload.get("role") in {"user", "assistant"}:
            text = _parts(payload)
            is_meta = payload["role"] == "user" and text.lstrip().startswith(_NOT_THE_USERS)
            return {"isMeta": is_meta, **_says(payload["role"], _text(text))}
        case "function_call" | "custom_tool_call" | "local_shell_call":
            return _says("assistant", list(_calls(payload)))
        case "function_call_output" | "custom_tool_call_output":
            result = {"type": "tool_result", "tool_use_id": payload.get("call_id"), "content": _text(_output(payload))}
            return _says("user", [result])
    return {}


def _says(role: str, content: list[Entry]) -> Entry:
    return {"type": role, "message": {"role": role, "content": content}}


def _text(text: str) -> list[Entry]:
    return [{"type": "text", "text": text}]


def _parts(message: Entry) -> str:
    content = message.get("content")
    return "\n".join(str(part.get("text", "")) for part in content) if isinstance(content, list) else str(content or "")


def _kept(payload: Entry) -> Iterator[str]:
    """What the user had said and stays in the conversation."""
    for kept in payload.get("replacement_history") or ():
        text = _parts(kept) if kept.get("role") == "user" else ""
        if text and not text.lstrip().startswith(_NOT_THE_USERS):
            yield text


def _calls(payload: Entry) -> Iterator[Entry]:
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    try:
        fields = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        fields = given
    fields = fields if isinstance(fields, dict) else {"input": fields}
    command = fields.get("cmd", fields.get("command"))
    if isinstance(command, list):
        command = command[-1] if command else ""
    name, written = payload.get("name"), command if isinstance(command, str) else str(fields.get("input", ""))
    patches = _PATCH.findall(written)
    for file, old, new in (edit for patch in patches for edit in _edits(patch)):
        yield _call(payload, "Edit", {"file_path": file, "old_string": old, "new_string": new})
    if isinstance(command, str) and (name != "apply_patch" or not patches):
        shown = _SHOWS_ONE_FILE.fullmatch(command.strip())
        yield _call(payload, "Bash", {"command": command, **({"file_path": shown[1]} if shown else {})})
    elif not patches:
        yield _call(payload, str(name), fields)


def _call(payload: Entry, name: str, given: Entry) -> Entry:
    return {"type": "tool_use", "id": payload.get("call_id"), "name": name, "input": given}


def _edits(patch: str) -> Iterator[tuple[str, str, str]]:
    """Each piece of a patch: the file, the lines that were there, and those that are there now."""
    places = list(_FILE.finditer(patch))
    for place, following in zip(places, [*places[1:], None], strict=True):
        body = patch[place.end() : following.start() if following else len(patch)]
        for piece in re.split(r"^@@.*$", body, flags=re.MULTILINE):
            lines = [line for line in piece.split("\n") if line and not line.startswith("***")]
            old = "\n".join(line[1:] for line in lines if line[0] != "+")
            new = "\n".join(line[1:] for line in lines if line[0] != "-")
            if lines or place[1] == "Delete":
                yield place[2].strip(), old, new


def _output(payload: Entry) -> str:
    output = payload.get("output")
    if isinstance(output, list):
        output = "\n".join(str(part.get("text", "")) for part in output if isinstance(part, dict))
    return _HEAD.sub("", str(output), count=1)

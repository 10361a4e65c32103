"""Chats of VS Code, as of GitHub Copilot Chat: `workspaceStorage/<hash>/chatSessions/<id>.jsonl` (or older `.json`),
and what *Chat: Export Chat…* writes.

A chat is a list of requests, each with the user's message and the parts of the response. A `.jsonl` file is a log: its
first line is the whole chat, and each further one sets a value, appends to a list, or deletes a value. A line that does
not fit is skipped and counted. The project of a chat is in `workspace.json`, a folder above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from unified_state.lib.foreign_values import time_of
from unified_state.model.history_records import HistoryRecord
from unified_state.model.step import NOTICE, TEXT, THINKING, TOOL_CALL
from unified_state.upkeep.exchange.foreign_files import damaged
from unified_state.upkeep.exchange.foreign_records import Conversation
from unified_state.upkeep.exchange.foreign_text import ForeignFile, as_json, objects_in, text_in

NAME = "VS Code chat"
_PROGRAM = "vscode-chat"
_LOG = re.compile(r'\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:')
_MARKS = ('"responderUsername"', '"requesterUsername"')
_WHOLE, _SET, _APPEND, _DELETE = range(4)
_TOOLS = ("toolInvocationSerialized", "toolInvocation")
_MOST_STEPS_OF_PATH = 20


def told(head: str, _path: str) -> bool:
    """Return whether this is a log of a chat, or a chat."""
    if _LOG.match(head):
        return True
    return head.startswith("{") and '"requests"' in head and any(mark in head for mark in _MARKS)


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield the session of a chat, and its prompts and the parts of its responses as steps. Raises ForeignFileError."""
    if file.is_elsewhere(_project(file)):
        return
    chat = _replayed(file) if file.name.endswith(".jsonl") else file.json()
    requests = chat.get("requests") if isinstance(chat, dict) else None
    if not isinstance(requests, list):
        raise damaged(file.path, "its requests are no list")
    first = text_in(requests[0], "requestId") if requests else ""
    name = text_in(chat, "sessionId") or first or file.name.rpartition(".")[0]
    talk = Conversation(_PROGRAM, name, time_of(chat.get("creationDate")) or file.modified())
    yield talk.session(title=text_in(chat, "customTitle"))
    for number, request in enumerate(requests, 1):
        if isinstance(request, dict):
            yield from _steps(talk, request)
        else:
            file.skip(f"request {number}")


def _project(file: ForeignFile) -> str:
    """Return the folder that the window of a chat had open, or ""."""
    address = text_in(file.beside("../workspace.json"), "folder")
    try:
        return unquote(urlsplit(address).path) if address.startswith("file://") else ""
    except ValueError:  # brackets that are no address
        return ""


def _steps(talk: Conversation, request: dict[str, Any]) -> Iterator[HistoryRecord]:
    at, message = time_of(request.get("timestamp")), request.get("message")
    prompt = text_in({"text": message} if isinstance(message, str) else message, "text")
    if prompt.strip():
        yield talk.step(NOTICE, prompt.strip(), at)
    said = ""
    for part in objects_in(request.get("response")):
        kind, text, fields = _part(part)
        if kind == TEXT:  # a response is written in pieces, with names of files in between
            said += text
            continue
        if said.strip():
            yield talk.step(TEXT, said.strip(), at)
            said = ""
        if text.strip():
            yield talk.step(kind, text.strip(), at, **fields)
    if said.strip():
        yield talk.step(TEXT, said.strip(), at)


def _part(part: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return the kind, the text and further fields of a part of a response; no text for what says nothing."""
    kind = part.get("kind")
    if kind is None or kind == "markdownContent":
        return TEXT, _markdown(part) or _markdown(part.get("content")), {}
    if kind == "inlineReference":
        place = part.get("inlineReference")
        inner = place.get("uri") if isinstance(place, dict) else None
        return TEXT, text_in(part, "name") or text_in(place, "path", "name") or text_in(inner, "path"), {}
    if kind == "thinking":
        value = part.get("value")
        parts = [text_in({"text": one}, "text") for one in value] if isinstance(value, list) else [_markdown(part)]
        return THINKING, "\n".join(filter(None, parts)), {}
    if kind in _TOOLS:
        call = {"tool": text_in(part, "toolId") or None, "tool_use_id": text_in(part, "toolCallId") or None}
        return TOOL_CALL, as_json(_call(part)), call
    if kind == "textEditGroup":
        texts = [text_in(edit, "text") for run in _lists(part.get("edits")) for edit in objects_in(run)]
        edit = {"file_path": text_in(part.get("uri"), "path", "fsPath"), "new_string": "\n".join(filter(None, texts))}
        return TOOL_CALL, as_json(edit), {"tool": "textEdit"}
    return "", "", {}


def _call(part: dict[str, Any]) -> dict[str, Any]:
    """Return what a tool was asked and what it said, as far as the chat shows it."""
    asked = part.get("toolSpecificData")
    shown = {
        "message": _markdown({"value": part.get("pastTenseMessage") or part.get("invocationMessage")}),
        "input": asked if isinstance(asked, dict) else None,
        "result": part.get("resultDetails"),
    }
    return {name: value for name, value in shown.items() if value}


def _markdown(value: object) -> str:
    """Return a text that is given as itself or in an object."""
    inner = value.get("value") if isinstance(value, dict) else None
    return text_in(inner, "value") if isinstance(inner, dict) else text_in(value, "value")


def _lists(value: object) -> list[Any]:
    return [one if isinstance(one, list) else [one] for one in value] if isinstance(value, list) else []


def _replayed(file: ForeignFile) -> Any:
    """Return the chat that a log of changes gives."""
    chat: Any = None
    for number, entry in file.objects():
        kind, path, value = entry.get("kind"), entry.get("k"), entry.get("v")
        if kind == _WHOLE:
            chat = value
            continue
        if not (isinstance(path, list) and 0 < len(path) <= _MOST_STEPS_OF_PATH):
            file.skip(f"line {number}")
            continue
        try:
            _change(chat, path, kind, value, entry.get("i"))
        except (LookupError, TypeError, ValueError):
            file.skip(f"line {number}")
    return chat


def _change(chat: Any, path: list[Any], kind: object, value: Any, start: object) -> None:
    """Change the value at a path. Raises LookupError, TypeError or ValueError if it does not fit."""
    place = chat
    for step in path[:-1]:
        place = place[_key(place, step)]
    key = _key(place, path[-1])
    if kind == _SET and isinstance(place, list) and key == len(place):
        place.append(value)
    elif kind == _SET:
        place[key] = value
    elif kind == _APPEND:
        _append(place.setdefault(key, []) if isinstance(place, dict) else place[key], value, start)
    elif kind == _DELETE:
        del place[key]
    else:
        raise ValueError


def _key(place: Any, step: object) -> Any:
    """Return a step of a path, which is a name in an object and a position in a list."""
    fits = isinstance(step, str) if isinstance(place, dict) else isinstance(place, list) and isinstance(step, int)
    if not fits or (isinstance(step, int) and step < 0):
        raise TypeError
    return step


def _append(target: Any, value: Any, start: object) -> None:
    """Cut a list at `start`, if given, and append values to it. Raises TypeError if it is no list."""
    if not isinstance(target, list) or not isinstance(value, list | None):
        raise TypeError
    if isinstance(start, int) and start >= 0:
        del target[start:]
    target.extend(value or ())

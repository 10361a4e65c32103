"""Sessions of Cline, and of Roo Code, which has the same files: `tasks/<id>/api_conversation_history.json`, a list of
the API's messages; and Cline's newer `sessions/<id>/<id>.messages.json`, an object around such a list.

Messages of older versions have no time. `ui_messages.json` beside them says when each was sent; else the task's id is
its start. The folder of a session is in `history_item.json` (Roo), in the manifest (newer Cline), or in the details
that Cline adds to the first prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from unified_state.extras.importers.foreign_records import Conversation, as_json, newer, text_in
from unified_state.hosts.transcripts.transcript_lines import objects_in
from unified_state.lib.foreign_values import clean_text, time_of
from unified_state.model.history_records import HistoryRecord
from unified_state.model.step import NOTICE, TEXT, THINKING, TOOL_CALL, TOOL_RESULT
from unified_state.upkeep.exchange.foreign_files import ForeignFile, damaged

NAME = "Cline or Roo session"
_CLINE, _ROO = "cline", "roo"
_LIST = re.compile(r'\[\s*\{\s*"role"\s*:\s*"(?:user|assistant)"')
_OBJECT = re.compile(r'\{\s*"version"\s*:\s*\d+\s*,')
_DETAILS = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_TAGS = re.compile(r"</?(?:task|user_message|feedback|user_input)\b[^<>]*>")
_CWD = re.compile(r"Current (?:Working|Workspace) Directory \((.{1,1000}?)\)")
_RESULT = re.compile(r"\[([a-z_]+)(?: for .*?)?\] Result:", re.DOTALL)  # of versions whose tools are part of the text
_ENDING = ".messages.json"
_ID = re.compile(r"[0-9]{10,14}")  # of a task: the milliseconds of its start


def told(head: str, _path: str) -> bool:
    """Return whether this is a list of the API's messages, or an object around one."""
    if _LIST.match(head):
        return '"content"' in head
    return _OBJECT.match(head) is not None and '"messages"' in head and '"sessionId"' in head


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield the session and its messages as steps. Raises ForeignFileError."""
    value = file.json()
    is_list = isinstance(value, list)
    fields = value if isinstance(value, dict) else {}
    if not is_list and fields.get("version") != 1:
        raise newer(file.path, fields.get("version"))
    found = value if isinstance(value, list) else fields.get("messages")
    if not isinstance(found, list):
        raise damaged(file.path, "its messages are no list")
    history = file.beside("history_item.json") if is_list else None
    name = file.folder if is_list else text_in(fields, "sessionId") or file.name.removesuffix(_ENDING)
    manifest = None if is_list else file.beside(f"{file.name.removesuffix(_ENDING)}.json")
    cwd = text_in(history, "workspace") or text_in(manifest, "workspace_root", "cwd") or _folder(found)
    if file.is_elsewhere(cwd):
        return
    times = _times(file.beside("ui_messages.json")) if is_list else {}
    started = time_of(int(name)) if _ID.fullmatch(name) else min(times.values(), default=file.modified())
    talk = Conversation(_ROO if isinstance(history, dict) else _CLINE, name, started)
    yield talk.session()
    for number, message in enumerate(found):
        if text_in(message, "role") not in {"user", "assistant"}:
            file.skip(f"message {number + 1}")
            continue
        yield from _steps(talk, message, time_of(message.get("ts")) or times.get(number, 0))


def _steps(talk: Conversation, message: dict[str, Any], at: int) -> Iterator[HistoryRecord]:
    content = message.get("content")
    is_user = message["role"] == "user"
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects_in(content)
    for block in _with_results(blocks) if is_user else blocks:
        kind, text, fields = _step(block, is_user=is_user)
        if text.strip():
            yield talk.step(kind, text, at, **fields)


def _with_results(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the blocks, with the title of a result and the block behind it as one."""
    title = ""
    for block in blocks:
        text = text_in(block, "text")
        if title:
            yield {"type": "text", "text": f"{title}\n{text}"}
            title = ""
        elif _RESULT.fullmatch(text):
            title = text
        else:
            yield block
    if title:
        yield {"type": "text", "text": title}


def _step(block: dict[str, Any], *, is_user: bool) -> tuple[str, str, dict[str, Any]]:
    """Return the kind, the text and further fields of a block; no text for what has none, as a picture."""
    kind = text_in(block, "type")
    if kind == "tool_use":
        call = {"tool": text_in(block, "name") or None, "tool_use_id": text_in(block, "id") or None}
        return TOOL_CALL, as_json(block.get("input")), call
    if kind == "tool_result":
        result = {"tool_use_id": text_in(block, "tool_use_id") or None, "is_error": block.get("is_error") is True}
        return TOOL_RESULT, _content(block.get("content")), result
    if kind in {"thinking", "reasoning"}:
        return THINKING, text_in(block, "thinking", "text"), {}
    text = text_in(block, "text") if kind == "text" else ""
    if not is_user:
        return TEXT, text, {}
    text = _DETAILS.sub("", text).strip()
    if found := _RESULT.match(text):
        return TOOL_RESULT, text, {"tool": found[1]}
    return NOTICE, _TAGS.sub("", text).strip(), {}


def _content(content: object) -> str:
    if isinstance(content, str):
        return clean_text(content)
    texts = [text_in(block, "text") for block in objects_in(content)]
    return "\n".join(filter(None, texts)) or (as_json(content) if content else "")


def _times(messages: object) -> dict[int, int]:
    """Return when each of the API's messages was sent, by its position, as far as what the user saw tells."""
    times: dict[int, int] = {}
    for message in objects_in(messages):
        position, at = message.get("conversationHistoryIndex"), time_of(message.get("ts"))
        if isinstance(position, int) and at:
            # The first thing that was shown is from before any message: its position is -1.
            times[max(0, position)] = min(at, times.get(max(0, position), at))
    return times


def _folder(messages: list[Any]) -> str:
    """Return the working directory in the details of the first prompt, or ""."""
    first = messages[0].get("content") if messages and isinstance(messages[0], dict) else None
    texts = [first] if isinstance(first, str) else [text_in(block, "text") for block in objects_in(first)]
    found = next(filter(None, (_CWD.search(text) for text in texts)), None)
    return found[1] if found else ""

"""Read transcript files: lines from a byte offset, fields of entries, steps, and the folder that the client keeps next
to them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from unified_state.lib.json_text import dump_json, parse_object
from unified_state.lib.read_files import open_regular
from unified_state.lib.times import to_milliseconds
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Boundary, Continuation, Found, Step, Summary, Usage

Entry = dict[str, Any]
Read = Callable[[Entry], Iterator[Found]]


_CONTEXT_BEGINS, _CONTEXT_ENDS = "<hook_context>", "</hook_context>"  # Gemini CLI's marks around the output of a hook
LONGEST_LINE = 1 << 26  # bytes; a request to Claude has a half of that at most
_ENTRY_STARTS = ('{"parentUuid":', '{"type":')  # the second also occurs inside entries that begin with the first


def read_lines(path: str, offset: int, *, to_end: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield the lines from a byte offset on, each with the offset after it. Raises OSError.

    A last line without a newline is still being written and is left for the next call. With `to_end`, for files that
    are complete, it is read if it is valid. A line of more than `LONGEST_LINE` bytes is yielded in parts, each as b"".
    A chat of an early Gemini CLI is one line.
    """
    with open_regular(path, 1 << 18) as file:
        if path.endswith(CHAT_END):
            content = file.read(LONGEST_LINE)
            yield len(content), content
            return
        file.seek(offset)
        while line := file.readline(LONGEST_LINE):
            size, is_whole = len(line), line.endswith(b"\n")
            if size == LONGEST_LINE and not is_whole:
                line, is_whole = b"", True
            if not is_whole and not (to_end and parse_entries(line)):
                return
            offset += size
            held = [line]
            del line  # a long line must not stay in memory while the caller works on it
            yield offset, held.pop()


def parse_entries(line: bytes) -> list[Entry]:
    """Return the entries of a line: usually one, of a damaged line those that are whole."""
    return whole_entries(line)[0]


def whole_entries(line: bytes) -> tuple[list[Entry], int]:
    """Return the entries of a line, and how many characters of it belong to none.

    In a damaged line entries stand side by side, behind one whose write was interrupted, or among zeros.
    """
    text = line.decode("utf-8", "replace")
    entry = parse_object(text)
    if entry is not None:
        return [entry], 0
    found: list[Entry] = []
    left = 0
    for part in filter(None, map(str.strip, text.replace('}{"', '}\0{"').split("\0"))):
        places = (0, *(at for start in _ENTRY_STARTS if (at := part.rfind(start, 1)) > 0))
        entries = ((parse_object(part[at:]), at) for at in places)
        entry, begin = next((one for one in entries if one[0] is not None), (None, len(part)))
        found += [] if entry is None else [entry]
        left += begin
    return found, left


def text_in(holder: Any, name: str) -> str:
    """Return a field of an object as text, or "" if it is missing or not text."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def object_in(holder: Any, name: str) -> Entry:
    """Return a field of an object as an object, empty if it is missing or not an object."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def objects_in(values: Any) -> list[Entry]:
    """Return the objects of a list, or an empty list if `values` is not a list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def texts_in(values: Any) -> str:
    """Return the texts of a message's parts, one on each line, or the message itself if it is a string."""
    if isinstance(values, str):
        return values
    return "\n".join(filter(None, (text_in(part, "text") for part in objects_in(values))))


def time_of(entry: Entry) -> int:
    """Return the time of an entry in milliseconds, or 0 if it has none."""
    return to_milliseconds(entry.get("timestamp")) or 0


class Message:
    """One message of a transcript. It makes the records of a reader, which share its uuid and its time."""

    __slots__ = ("agent", "at", "uuid")

    def __init__(self, uuid: str, at: int, agent: str | None = None) -> None:
        self.uuid, self.at, self.agent = uuid, at, agent

    def step(self, kind: str, text: str, block: int = 0, **more: Any) -> Step:
        """Return a step of this message. `block` distinguishes its steps."""
        return Step(uuid=self.uuid, block=block, kind=kind, at=self.at, text=text, agent=self.agent, **more)

    def call(self, tool: str, fields: Any, tool_use_id: str | None, block: int = 0) -> Step:
        """Return the step of a tool call with its input as JSON."""
        return self.step(TOOL_CALL, dump_json(fields), block, tool=tool, tool_use_id=tool_use_id)

    def result(self, text: str, tool_use_id: str | None, block: int = 0, *, is_error: bool = False) -> Step:
        """Return the step of a tool result."""
        return self.step(TOOL_RESULT, text, block, tool_use_id=tool_use_id, is_error=is_error)

    def compaction(self, summary: str) -> tuple[Boundary, Summary]:
        """Return the boundary that ends the earlier conversation, and the summary that replaces it."""
        return Boundary(uuid=self.uuid, at=self.at), Summary(uuid=self.uuid, at=self.at, text=summary)


def session_of(entry: Entry) -> str | None:
    """Return the session id in an entry."""
    return text_in(entry, "sessionId") or None


def cwd_of(entry: Entry) -> str | None:
    """Return the working folder of the client when it wrote an entry."""
    return text_in(entry, "cwd") or text_in(object_in(entry, "payload"), "cwd") or None  # the second is Codex's


def parent_of(entry: Entry) -> str | None:
    """Return the session from which a fork copied an entry. Only assistant entries name it."""
    parent = text_in(entry, "requestSessionId")
    return parent if parent and parent != entry.get("sessionId") else None


def usage_of(entry: Entry) -> Usage | None:
    """Return the conversation size that the API reported with an answer, or None for other entries and for
    subagents.
    """
    message = {} if entry.get("isSidechain") else object_in(entry, "message")
    usage = object_in(message, "usage")
    if not usage:
        return None
    sizes = (usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"))
    tokens = sum(size for size in sizes if isinstance(size, int))
    return Usage(str(message.get("id")), tokens) if tokens else None  # an error of the API has none


def continuation_of(entry: Entry) -> Continuation | None:
    """Return the entry that a prompt continues, or None if the entry is not a prompt.

    A prompt is text in the user's place that is not the result of a tool.
    """
    is_users = entry.get("type") == "user" and isinstance(entry.get("message"), dict)
    if not is_users or any(map(entry.get, ("isSidechain", "isMeta", "isCompactSummary"))):
        return None
    content = entry["message"].get("content")
    kinds = [block.get("type") for block in objects_in(content)] if isinstance(content, list) else ["text"]
    if "text" not in kinds or "tool_result" in kinds:
        return None
    uuid, at = text_in(entry, "uuid"), to_milliseconds(entry.get("timestamp"))
    if not uuid or at is None:
        return None
    return Continuation(uuid, at, text_in(entry, "parentUuid") or None)


def without_context(prompt: str) -> str:
    """Return a prompt without the hook output that Gemini CLI puts before the first prompt of a session."""
    while prompt.startswith(_CONTEXT_BEGINS):
        _, found, prompt = prompt.partition(_CONTEXT_ENDS)
        if not found:
            return ""
        prompt = prompt.lstrip("\n")
    return prompt


TRANSCRIPT_END, CHAT_END = ".jsonl", ".json"
_SUBAGENTS = "subagents"
_HOOK_OUTPUT = "hook-"  # prefix of a hook's output that the client found too long, in contrast to a tool's


def session_folder(transcript_path: str) -> str:
    """Return the folder of a session, which may not exist."""
    return transcript_path.removesuffix(TRANSCRIPT_END)


def subagent_transcripts(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the transcripts of a session's subagents, each with the agent's id. Those of a workflow lie deeper."""
    for path in _files_below(os.path.join(folder, _SUBAGENTS)):
        name = os.path.basename(path)
        if name.startswith("agent-") and name.endswith(TRANSCRIPT_END):
            yield path, name[len("agent-") : -len(TRANSCRIPT_END)]


def tool_result_files(folder: str) -> list[str]:
    """Return the files of results that were too long for the transcript."""
    paths = _files_below(os.path.join(folder, "tool-results"))
    return [path for path in paths if not os.path.basename(path).startswith(_HOOK_OUTPUT)]


def _files_below(folder: str) -> list[str]:
    try:
        paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    except ValueError:  # a path that no file system takes
        return []
    return sorted(path for path in paths if os.path.isfile(path) and not os.path.islink(path))

"""Transcript files: their lines from a byte offset, the fields of their entries, the steps that a reader makes of
them, and the folder that the client keeps beside them.
"""

from __future__ import annotations

import os

from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.times import to_milliseconds
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Boundary, Continuation, Step, Summary, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from unified_state.model.step import Found

    Entry = dict[str, Any]
    Read = Callable[[Entry], Iterator[Found]]


_CONTEXT_BEGINS, _CONTEXT_ENDS = "<hook_context>", "</hook_context>"  # Gemini CLI's, round the output of a hook
_ENTRY_STARTS = ('{"parentUuid":', '{"type":')  # the second one also stands inside of entries that begin as the first


def read_lines(path: str, offset: int, *, to_end: bool = False) -> Iterator[tuple[int, bytes]]:
    """The lines from a byte offset on, each with the offset behind it.

    A last line without its newline is still being written and is left for the next time; with `to_end`, for files that
    nobody writes to any more, it counts if it is whole.
    """
    with open(path, "rb", buffering=1 << 18) as file:  # pathlib costs the hooks 5 ms
        file.seek(offset)
        for line in file:
            whole = line.endswith(b"\n")
            if not whole and not (to_end and parse_entries(line)):
                return
            offset += len(line)
            yield offset, line


def parse_entries(line: bytes) -> list[Entry]:
    """The entries of a line: one as a rule, none if it is damaged; the second half where half an entry was left before
    it.
    """
    text = line.decode("utf-8", "replace")
    entry = _parsed(text)
    if entry is None:
        seconds = (_parsed(text[at:]) for start in _ENTRY_STARTS if (at := text.rfind(start, 1)) > 0)
        entry = next(filter(None, seconds), None)
    return [] if entry is None else [entry]


def text_in(holder: Entry, name: str) -> str:
    """A field as text; empty if it is missing or not text."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def object_in(holder: Entry, name: str) -> Entry:
    """A field as an object; empty if it is missing or no object."""
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(values: Any) -> list[Entry]:
    """The objects of a list; none if it is no list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def texts_in(values: Any) -> str:
    """The texts of the parts of a message, a line each; the message itself where it is a text."""
    return values if isinstance(values, str) else "\n".join(text_in(part, "text") for part in objects_in(values))


def time_of(entry: Entry) -> int:
    """When an entry was written, in milliseconds; 0 where it does not tell."""
    return to_milliseconds(entry.get("timestamp")) or 0


class Message:
    """One message of a transcript, and the records that a reader makes of it: they share its uuid and its time."""

    __slots__ = ("agent", "at", "uuid")

    def __init__(self, uuid: str, at: int, agent: str | None = None) -> None:
        self.uuid, self.at, self.agent = uuid, at, agent

    def step(self, kind: str, text: str, block: int = 0, **more: Any) -> Step:
        """A step of this message; `block` tells its steps apart."""
        return Step(uuid=self.uuid, block=block, kind=kind, at=self.at, text=text, agent=self.agent, **more)

    def call(self, tool: str, fields: Any, tool_use_id: str | None, block: int = 0) -> Step:
        """A tool call, its input as JSON."""
        return self.step(TOOL_CALL, dump_json(fields), block, tool=tool, tool_use_id=tool_use_id)

    def result(self, text: str, tool_use_id: str | None, block: int = 0, *, is_error: bool = False) -> Step:
        """The result of a tool call."""
        return self.step(TOOL_RESULT, text, block, tool_use_id=tool_use_id, is_error=is_error)

    def compaction(self, summary: str) -> tuple[Boundary, Summary]:
        """The end of what came before, and the summary in its place."""
        return Boundary(uuid=self.uuid, at=self.at), Summary(uuid=self.uuid, at=self.at, text=summary)


def _parsed(text: str) -> Entry | None:
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def session_of(entry: Entry) -> str | None:
    """The session that an entry says it belongs to."""
    return text_in(entry, "sessionId") or None


def cwd_of(entry: Entry) -> str | None:
    """The folder that the client was in when it wrote an entry."""
    return text_in(entry, "cwd") or None


def parent_of(entry: Entry) -> str | None:
    """The session that a fork copied an entry from; only assistant entries tell."""
    parent = text_in(entry, "requestSessionId")
    return parent if parent and parent != entry.get("sessionId") else None


def usage_of(entry: Entry) -> Usage | None:
    """The size of the conversation that the API reported with an answer; None for other entries and for subagents."""
    message = {} if entry.get("isSidechain") else object_in(entry, "message")
    usage = object_in(message, "usage")
    if not usage:
        return None
    sizes = (usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"))
    return Usage(str(message.get("id")), sum(size for size in sizes if isinstance(size, int)))


def continuation_of(entry: Entry) -> Continuation | None:
    """The entry that a prompt continues; None where the entry is no prompt (text in the user's place, no tool's
    result).
    """
    uuid, at = text_in(entry, "uuid"), to_milliseconds(entry.get("timestamp"))
    is_users = entry.get("type") == "user" and isinstance(entry.get("message"), dict)
    if not is_users or not uuid or at is None or any(map(entry.get, ("isSidechain", "isMeta", "isCompactSummary"))):
        return None
    content = entry["message"].get("content")
    kinds = [block.get("type") for block in objects_in(content)] if isinstance(content, list) else ["text"]
    if "text" not in kinds or "tool_result" in kinds:
        return None
    return Continuation(uuid, at, text_in(entry, "parentUuid") or None)


def without_context(prompt: str) -> str:
    """A prompt without the text of a hook, which Gemini CLI puts before the first prompt of a session."""
    while prompt.startswith(_CONTEXT_BEGINS):
        _, found, prompt = prompt.partition(_CONTEXT_ENDS)
        if not found:
            return ""
        prompt = prompt.lstrip("\n")
    return prompt


TRANSCRIPT_END = ".jsonl"
_RECORD_END = ".meta.json"
_SUBAGENTS = "subagents"
_HOOK_OUTPUT = "hook-"  # what a hook printed and the client found too long: a hook's, not a tool's


def session_folder(transcript_path: str) -> str:
    """The folder of a session, which need not exist."""
    return transcript_path.removesuffix(TRANSCRIPT_END)


def subagent_transcripts(folder: str) -> Iterator[tuple[str, str]]:
    """The transcripts of a session's subagents, each with the agent's id."""
    for path in _files_in(os.path.join(folder, _SUBAGENTS)):
        name = os.path.basename(path)
        if name.startswith("agent-") and name.endswith(TRANSCRIPT_END):
            yield path, name[len("agent-") : -len(TRANSCRIPT_END)]


def subagent_records(folder: str) -> list[str]:
    """What the client notes of each subagent beside its transcript, as soon as it has begun."""
    return [path for path in _files_in(os.path.join(folder, _SUBAGENTS)) if path.endswith(_RECORD_END)]


def tool_result_files(folder: str) -> list[str]:
    """The results that were too long for the transcript."""
    paths = _files_in(os.path.join(folder, "tool-results"))
    return [path for path in paths if not os.path.basename(path).startswith(_HOOK_OUTPUT)]


def _files_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []

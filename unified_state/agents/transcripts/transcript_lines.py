"""Transcript files: whole lines from a byte offset, their entries, and the folder that the client keeps beside them."""

from __future__ import annotations

import os

from unified_state.lib.stdlib import parse_json
from unified_state.lib.times import to_milliseconds
from unified_state.model.step import Continuation, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from unified_state.model.step import Found

    Entry = dict[str, Any]
    Read = Callable[[Entry], Iterator[Found]]
    from collections.abc import Iterator


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


def objects_in(values: Any) -> list[Entry]:
    """The objects of a list; none of what is no list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def time_of(entry: Entry) -> int:
    """When an entry was written, in milliseconds; 0 where it does not tell."""
    return to_milliseconds(entry.get("timestamp")) or 0


def _parsed(text: str) -> Entry | None:
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def session_of(entry: Entry) -> str | None:
    """The session that an entry says it belongs to."""
    session_id = entry.get("sessionId")
    return session_id if isinstance(session_id, str) and session_id else None


def usage_of(entry: Entry) -> Usage | None:
    """What the API said of the conversation's size with an answer; None for other entries and for subagents."""
    message = entry.get("message")
    usage = message.get("usage") if isinstance(message, dict) and not entry.get("isSidechain") else None
    if not isinstance(usage, dict) or not isinstance(message, dict):
        return None
    sizes = (usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"))
    return Usage(str(message.get("id")), sum(size for size in sizes if isinstance(size, int)))


def parent_of(entry: Entry) -> str | None:
    """The session that an entry was copied from by a fork, if it was; only assistant entries tell."""
    parent = entry.get("requestSessionId")
    return parent if isinstance(parent, str) and parent and parent != entry.get("sessionId") else None


def continuation_of(entry: Entry) -> Continuation | None:
    """Where a prompt goes on, if the entry is one: text in the user's place, and no tool's result."""
    message = entry.get("message") if entry.get("type") == "user" else None
    if (
        not isinstance(message, dict)
        or entry.get("isSidechain")
        or entry.get("isMeta")
        or entry.get("isCompactSummary")
    ):
        return None
    content, uuid, parent = message.get("content"), entry.get("uuid"), entry.get("parentUuid")
    blocks = content if isinstance(content, list) else [{"type": "text"}]
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    at = to_milliseconds(entry.get("timestamp"))
    if "text" not in kinds or "tool_result" in kinds or not isinstance(uuid, str) or at is None:
        return None
    return Continuation(uuid, at, parent if isinstance(parent, str) and parent else None)


def cwd_of(entry: Entry) -> str | None:
    """The folder that the client was in when it wrote an entry."""
    cwd = entry.get("cwd")
    return cwd if isinstance(cwd, str) and cwd else None


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

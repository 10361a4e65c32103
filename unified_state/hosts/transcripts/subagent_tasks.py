"""Find the task of a subagent: the call of its parent in the transcripts.

The client's hook for a starting subagent has neither the task nor the id of the call. The call is in the transcript of
the parent, which may be a subagent itself. Once the subagent has begun, a file next to its transcript names the call.
If several parallel calls match the agent's type, all their tasks are returned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from unified_state.hosts.transcripts.transcript_lines import (
    Entry,
    object_in,
    objects_in,
    parse_entries,
    session_folder,
    subagent_records,
    subagent_transcripts,
    text_in,
)
from unified_state.lib.json_text import parse_object
from unified_state.lib.read_files import SMALL_FILE, open_regular, read_regular

_TAIL = 1 << 19  # bytes at the end of a transcript that are searched for an open call
_MOST_PARENTS = 8  # number of newest subagent transcripts that are searched for nested calls
_TOOLS = ("Agent", "Task")  # current and former name of the tool
_USUAL_TYPE = "general-purpose"
_LONGEST_TASK = 20_000  # characters


def tasks_of(transcript_path: str, agent_id: str, agent_type: str | None) -> tuple[str, ...]:
    """Return the task of a starting subagent.

    Several tasks are returned if more than one call matches, and none if the call is not written yet.
    """
    folder = session_folder(transcript_path)
    calls: dict[str, tuple[str, str]] = {}  # without a result: the type of the agent, and its task
    for path in (transcript_path, *_parents(folder)):
        for entry, block in _blocks(path):
            given = object_in(block, "input")
            if block.get("name") in _TOOLS:
                task = f"{text_in(given, 'description')}\n{text_in(given, 'prompt')}"
                calls[str(block.get("id"))] = (text_in(given, "subagent_type") or _USUAL_TYPE, task[:_LONGEST_TASK])
            elif block.get("type") == "tool_result":  # immediate for an agent in the background, with its id
                call = calls.pop(str(block.get("tool_use_id")), None)
                if call and object_in(entry, "toolUseResult").get("agentId") == agent_id:
                    return (call[1],)
    begun = set(_begun(folder, but=agent_id))
    return tuple(task for use, (kind, task) in calls.items() if use not in begun and agent_type in {None, kind})


def _blocks(path: str) -> Iterator[tuple[Entry, Entry]]:
    """Yield the calls and results near the end of a transcript, each with its entry. Other lines are not parsed."""
    for line in _last_lines(path):
        if b'"tool_use' in line:
            for entry in parse_entries(line):
                yield from ((entry, block) for block in objects_in(object_in(entry, "message").get("content")))


def has_begun(transcript_path: str, agent_id: str) -> bool:
    """Return whether a subagent already has a transcript, so that it continues with the context that it had."""
    folder = session_folder(transcript_path)
    return bool(folder) and any(agent == agent_id for _, agent in subagent_transcripts(folder))


def _parents(folder: str) -> list[str]:
    """Return the subagent transcripts that were written last."""
    found = []
    for path, _ in subagent_transcripts(folder):
        try:
            found.append((os.stat(path).st_mtime_ns, path))
        except OSError:
            continue  # deleted since it was listed
    return [path for _, path in sorted(found, reverse=True)[:_MOST_PARENTS]]


def _last_lines(path: str) -> list[bytes]:
    """Return the complete lines near the end of a transcript."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _TAIL))
            return file.read(min(size, _TAIL)).split(b"\n")[:-1]  # the text after the last newline is being written
    except OSError:
        return []


def _begun(folder: str, but: str) -> Iterator[str]:
    """Yield the calls whose subagents have begun, except that of `but`."""
    for path in subagent_records(folder):
        if os.path.basename(path).startswith(f"agent-{but}."):
            continue
        try:
            record = parse_object(read_regular(path, SMALL_FILE))
        except OSError:  # deleted
            continue
        if record is not None:  # None: it is still being written
            yield text_in(record, "toolUseId")

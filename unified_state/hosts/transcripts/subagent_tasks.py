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
_NAMES = tuple(f'"{tool}"'.encode() for tool in _TOOLS)
_USUAL_TYPE = "general-purpose"
_LONGEST_TASK = 20_000  # characters


class _Calls:
    """Subagent calls in transcripts: calls without a result, and the call whose result names this agent.

    A call is the type of the agent and its task.
    """

    def __init__(self, agent_id: str) -> None:
        self._agent_id = agent_id
        self.open: dict[str, tuple[str, str]] = {}
        self.own: tuple[str, str] | None = None

    def take(self, line: bytes) -> None:
        """Read a line of a transcript. Most lines contain no such call and are not parsed."""
        if not any(name in line for name in _NAMES) and not any(name.encode() in line for name in self.open):
            return
        for entry in parse_entries(line):
            for block in objects_in(object_in(entry, "message").get("content")):
                match entry.get("type"), block.get("type"):
                    case "assistant", "tool_use":
                        self._call(block)
                    case "user", "tool_result":  # immediate for an agent in the background, with its id
                        call = self.open.pop(str(block.get("tool_use_id")), None)
                        if call and object_in(entry, "toolUseResult").get("agentId") == self._agent_id:
                            self.own = call

    def _call(self, block: Entry) -> None:
        given = block.get("input")
        if isinstance(given, dict) and block.get("name") in _TOOLS:
            task = f"{text_in(given, 'description')}\n{text_in(given, 'prompt')}"
            self.open[str(block.get("id"))] = (text_in(given, "subagent_type") or _USUAL_TYPE, task[:_LONGEST_TASK])


def tasks_of(transcript_path: str, agent_id: str, agent_type: str | None) -> tuple[str, ...]:
    """Return the task of a starting subagent.

    Several tasks are returned if more than one call matches, and none if the call is not written yet.
    """
    folder = session_folder(transcript_path)
    calls = _Calls(agent_id)
    for path in (transcript_path, *_parents(folder)):
        for line in _last_lines(path):
            calls.take(line)
    if calls.own is not None:
        return (calls.own[1],)
    begun = set(_begun(folder, but=agent_id))
    return tuple(
        task
        for tool_use_id, (kind, task) in calls.open.items()
        if tool_use_id not in begun and agent_type in {None, kind}
    )


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

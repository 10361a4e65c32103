"""What a subagent was asked to do: the call of its parent, read from the transcripts.

The client does not tell the hook of a starting subagent its task, nor which call it belongs to. A call stands in the
transcript of the parent, which may be a subagent itself; once the subagent has begun, a file beside its transcript
names it. Of parallel calls for agents of one type that have not begun yet, each may be the one: all are given.
"""

from __future__ import annotations

import os

from unified_state.agents.transcripts.transcript_lines import (
    objects_in,
    parse_entries,
    session_folder,
    subagent_records,
    subagent_transcripts,
    text_in,
)
from unified_state.lib.record import Record
from unified_state.lib.stdlib import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.agents.transcripts.transcript_lines import Entry

_TAIL = 1 << 19  # bytes of a transcript in which an open call is looked for
_MOST_PARENTS = 8  # transcripts of subagents, the newest, that may hold a call of their own
_TOOLS = ("Agent", "Task")  # what the tool is called, and was called before
_NAMES = tuple(f'"{tool}"'.encode() for tool in _TOOLS)
_USUAL_TYPE = "general-purpose"
_LONGEST_TASK = 20_000  # characters


class _Call(Record):
    """A call that asks for a subagent of a type."""

    agent_type: str
    task: str


class _Calls:
    """The calls for subagents in transcripts: those that have no result, and the one whose result names this agent."""

    def __init__(self, agent_id: str) -> None:
        self._agent_id = agent_id
        self.open: dict[str, _Call] = {}
        self.own: _Call | None = None

    def take(self, line: bytes) -> None:
        """Take in a line of a transcript; most have nothing to do with it, and are not parsed."""
        if any(name in line for name in _NAMES) or any(tool_use_id.encode() in line for tool_use_id in self.open):
            for entry in parse_entries(line):
                self._entry(entry)

    def _entry(self, entry: Entry) -> None:
        for block in _blocks(entry):
            match entry.get("type"), block.get("type"):
                case "assistant", "tool_use":
                    self._call(block)
                case "user", "tool_result":
                    self._result(str(block.get("tool_use_id")), entry.get("toolUseResult"))

    def _call(self, block: Entry) -> None:
        given = block.get("input")
        if isinstance(given, dict) and block.get("name") in _TOOLS:
            task = f"{text_in(given, 'description')}\n{text_in(given, 'prompt')}"
            agent_type = text_in(given, "subagent_type") or _USUAL_TYPE
            self.open[str(block.get("id"))] = _Call(agent_type, task[:_LONGEST_TASK])

    def _result(self, tool_use_id: str, told: object) -> None:
        """A call in the background has its result at once, with the id of its agent."""
        call = self.open.pop(tool_use_id, None)
        if call is not None and isinstance(told, dict) and told.get("agentId") == self._agent_id:
            self.own = call


def tasks_of(transcript_path: str, agent_id: str, agent_type: str | None) -> tuple[str, ...]:
    """What a subagent that begins is asked to do; several where it cannot be told which, none where no call is written
    yet.
    """
    folder = session_folder(transcript_path)
    calls = _Calls(agent_id)
    for path in (transcript_path, *_parents(folder)):
        for line in _last_lines(path):
            calls.take(line)
    if calls.own is not None:
        return (calls.own.task,)
    begun = set(_begun(folder, but=agent_id))
    return tuple(
        call.task
        for tool_use_id, call in calls.open.items()
        if tool_use_id not in begun and agent_type in {None, call.agent_type}
    )


def has_begun(transcript_path: str, agent_id: str) -> bool:
    """Whether a subagent has a transcript: then it goes on, with all that it was given."""
    folder = session_folder(transcript_path)
    return bool(folder) and any(agent == agent_id for _, agent in subagent_transcripts(folder))


def _parents(folder: str) -> list[str]:
    """The transcripts of subagents that were written to last."""
    found = []
    for path, _ in subagent_transcripts(folder):
        try:
            found.append((os.stat(path).st_mtime_ns, path))
        except OSError:
            continue  # gone meanwhile
    return [path for _, path in sorted(found, reverse=True)[:_MOST_PARENTS]]


def _last_lines(path: str) -> list[bytes]:
    """The whole lines near the end of a transcript."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            return file.read(_TAIL).split(b"\n")[:-1]  # what stands behind the last one is still being written
    except OSError:
        return []


def _begun(folder: str, but: str) -> Iterator[str]:
    """The calls whose subagents have begun, but for one of these."""
    for path in subagent_records(folder):
        if os.path.basename(path).startswith(f"agent-{but}."):
            continue
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                record = parse_json(file.read())
        except (OSError, ValueError):
            continue  # gone, or being written
        if isinstance(record, dict):
            yield text_in(record, "toolUseId")


def _blocks(entry: Entry) -> list[Entry]:
    message = entry.get("message")
    return objects_in(message.get("content")) if isinstance(message, dict) else []

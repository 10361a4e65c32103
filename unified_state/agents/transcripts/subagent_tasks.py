"""The task of a subagent: the call of its parent, read from the transcripts.

The client does not tell the hook of a starting subagent its task, nor which call it belongs to. The call is in the
transcript of the parent, which may be a subagent itself; once the subagent has begun, a file beside its transcript
names the call. Several parallel calls for agents of one type may match: then all their tasks are returned.
"""

from __future__ import annotations

import os

from unified_state.agents.transcripts.transcript_lines import (
    object_in,
    objects_in,
    parse_entries,
    session_folder,
    subagent_records,
    subagent_transcripts,
    text_in,
)
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


class _Calls:
    """The calls for subagents in transcripts: those without a result, and the one whose result names this agent. A call
    is the type of the agent and its task.
    """

    def __init__(self, agent_id: str) -> None:
        self._agent_id = agent_id
        self.open: dict[str, tuple[str, str]] = {}
        self.own: tuple[str, str] | None = None

    def take(self, line: bytes) -> None:
        """Read a line of a transcript; most lines have no such call, and are not parsed."""
        if not any(name in line for name in _NAMES) and not any(name.encode() in line for name in self.open):
            return
        for entry in parse_entries(line):
            for block in objects_in(object_in(entry, "message").get("content")):
                match entry.get("type"), block.get("type"):
                    case "assistant", "tool_use":
                        self._call(block)
                    case "user", "tool_result":  # at once where the agent runs in the background, with its id
                        call = self.open.pop(str(block.get("tool_use_id")), None)
                        if call and object_in(entry, "toolUseResult").get("agentId") == self._agent_id:
                            self.own = call

    def _call(self, block: Entry) -> None:
        given = block.get("input")
        if isinstance(given, dict) and block.get("name") in _TOOLS:
            task = f"{text_in(given, 'description')}\n{text_in(given, 'prompt')}"
            self.open[str(block.get("id"))] = (text_in(given, "subagent_type") or _USUAL_TYPE, task[:_LONGEST_TASK])


def tasks_of(transcript_path: str, agent_id: str, agent_type: str | None) -> tuple[str, ...]:
    """The task of a subagent that begins; several where more than one call matches, none where no call is written
    yet.
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
    """Whether a subagent has a transcript already, and so continues with all that it was given."""
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

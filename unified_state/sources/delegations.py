"""What a subagent was asked to do: the call of its parent, read from the transcripts.

The client does not tell the hook of a starting subagent its task, nor which call it belongs to. A call stands in the
transcript of the parent, which may be a subagent itself; once the subagent has begun, a file beside its transcript
names it. Of parallel calls for agents of one type that have not begun yet, each may be the one: all are given.
"""

from __future__ import annotations

import os

from unified_state.interpreter import parse_json
from unified_state.records.record import Record
from unified_state.sources.session_folder import session_folder, subagent_records, subagent_transcripts
from unified_state.sources.transcript import parse_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_TAIL = 1 << 19  # bytes of a transcript in which an open call is looked for
_MOST_PARENTS = 8  # transcripts of subagents, the newest, that may hold a call of their own
_CALLS, _MESSAGES = {"Agent", "Task"}, "SendMessage"
_USUAL_TYPE = "general-purpose"
_LONGEST_TASK = 20_000  # characters


class _Call(Record):
    """A call that asks for a subagent of a type."""

    agent_type: str
    task: str


class _Calls:
    """The calls for subagents that transcripts hold: those that are open, and what is certainly said to this one."""

    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.open: dict[str, _Call] = {}
        self.known: dict[str, _Call] = {}  # of this subagent, by its own id in a result
        self.messages: list[str] = []

    def take(self, entry: dict[str, Any]) -> None:
        """Take in one entry of a transcript."""
        for block in _blocks(entry):
            kind = block.get("type")
            if entry.get("type") == "assistant" and kind == "tool_use":
                self._call(block)
            elif entry.get("type") == "user" and kind == "tool_result":
                self._result(str(block.get("tool_use_id")), entry.get("toolUseResult"))

    def _call(self, block: dict[str, Any]) -> None:
        given = block.get("input")
        if not isinstance(given, dict):
            return
        if block.get("name") in _CALLS:
            agent_type = _text(given, "subagent_type") or _USUAL_TYPE
            self.open[str(block.get("id"))] = _Call(agent_type, _task(given, ("description", "prompt")))
        elif block.get("name") == _MESSAGES and _text(given, "to") == self.agent_id:
            self.messages.append(_task(given, ("summary", "message")))

    def _result(self, tool_use_id: str, told: object) -> None:
        """A call that has its result is done with; in the background it has it at once, with the id of its agent."""
        call = self.open.pop(tool_use_id, None)
        if call is not None and isinstance(told, dict) and told.get("agentId") == self.agent_id:
            self.known[tool_use_id] = call


def tasks_of(transcript_path: str, agent_id: str, agent_type: str | None) -> tuple[str, ...]:
    """What the subagent is asked to do; several where it cannot be told which, none where no call is written yet."""
    folder = session_folder(transcript_path)
    calls = _Calls(agent_id)
    for path in (transcript_path, *_parents(folder, agent_id)):
        for entry in _last_entries(path):
            calls.take(entry)
    begun = dict(_begun(folder))
    own = begun.pop(agent_id, None)
    known = calls.known.get(own or "") or calls.open.get(own or "") or next(iter(calls.known.values()), None)
    if known is not None or calls.messages:
        return (*calls.messages[-1:], *([known.task] if known is not None else []))
    taken = set(begun.values())
    return tuple(
        call.task
        for tool_use_id, call in calls.open.items()
        if tool_use_id not in taken and agent_type in {None, call.agent_type}
    )


def _parents(folder: str, agent_id: str) -> list[str]:
    """The transcripts of other subagents that were written to last."""
    found = []
    for path, agent in subagent_transcripts(folder):
        if agent != agent_id:
            try:
                found.append((os.stat(path).st_mtime_ns, path))
            except OSError:
                continue  # gone meanwhile
    return [path for _, path in sorted(found, reverse=True)[:_MOST_PARENTS]]


def _last_entries(path: str) -> Iterator[dict[str, Any]]:
    """The entries near the end of a transcript that call tools or tell a result."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except OSError:
        return
    for line in lines[:-1]:  # the last one is empty, or still being written
        if b'"tool_use"' in line or b'"tool_result"' in line:
            yield from parse_entries(line)


def _begun(folder: str) -> Iterator[tuple[str, str]]:
    """The subagents that have begun, each with the call that asked for it."""
    for path, agent in subagent_records(folder):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                record = parse_json(file.read())
        except (OSError, ValueError):
            continue  # gone, or being written
        if isinstance(record, dict) and _text(record, "toolUseId"):
            yield agent, record["toolUseId"]


def _blocks(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def _task(given: dict[str, Any], names: Iterable[str]) -> str:
    return "\n".join(filter(None, (_text(given, name) for name in names)))[:_LONGEST_TASK]


def _text(holder: dict[str, Any], name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""

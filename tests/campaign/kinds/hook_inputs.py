"""Inputs of hooks: a line is `EVENT[.PART] INPUT`, and up to six come one after the other in one session."""

from __future__ import annotations

import json

from tests.campaign.kind import Kind
from tests.campaign.world import World

_MOST = 6
EVENTS = (
    "SessionStart", "UserPromptSubmit", "SubagentStart", "Stop", "SubagentStop", "PreCompact", "PostCompact",
    "SessionEnd", "PreToolUse", "PostToolUse", "Unknown",
)  # fmt: skip
_PARTS = {"SessionStart": ("brief", "working_set")}
_COMMON = {"session_id": "s", "transcript_path": "@TRANSCRIPT@", "cwd": "@REPOSITORY@", "permission_mode": "default"}
_INPUTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("SessionStart.brief", {"source": "compact", "model": "m"}),
    ("SessionStart.working_set", {"source": "startup"}),
    ("SessionStart.brief", {"source": "resume", "cwd": "@ELSEWHERE@"}),
    ("UserPromptSubmit", {"prompt": "Use the token @TOKEN@ and never push. Which port?"}),
    ("SubagentStart", {"agent_id": "a1", "agent_type": "Explore", "prompt": "Look at a.py"}),
    ("Stop", {"stop_hook_active": False, "last_assistant_message": "Done. password=@TOKEN@"}),
    ("SubagentStop", {"agent_id": "a1", "agent_transcript_path": "@TRANSCRIPT@"}),
    ("PreCompact", {"trigger": "auto", "custom_instructions": "keep @TOKEN@"}),
    ("PostCompact", {"trigger": "auto", "compact_summary": "We decided to keep the gold in Redis @TOKEN@."}),
    ("SessionEnd", {"reason": "other @TOKEN@"}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "echo @TOKEN@; git push -f"}}),
    ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "a.py", "content": "x"}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_response": {
        "stdout": "E   assert 1 == 2\n" * 40 + "@TOKEN@", "stderr": "", "interrupted": False}}),
    ("PostToolUse", {"tool_name": "mcp__x__y", "tool_input": {}, "tool_response": [{"type": "text", "text": "t"}]}),
)  # fmt: skip


def seeds() -> list[bytes]:
    """Each event alone, and a session of all of them."""
    lines = [_line(event, fields) for event, fields in _INPUTS]
    return [
        *lines,
        b"\n".join(lines[:_MOST]),
        b"\n".join(lines[_MOST : 2 * _MOST]),
        b"Stop",
        b'PreToolUse {"a":',
        b"Stop []",
    ]


def meet(world: World, data: bytes) -> None:
    """Each input is answered as the client expects, and later sessions have what they had."""
    for line in data.split(b"\n")[:_MOST]:
        named, _, stdin = line.partition(b" ")
        event, _, part = named.decode("latin-1").partition(".")
        event = event if event in EVENTS else EVENTS[len(named) % len(EVENTS)]
        world.hook_given(event, part if part in _PARTS.get(event, ()) else "", stdin)
    world.check_nothing_lost()


def _line(event: str, fields: dict[str, object]) -> bytes:
    return f"{event} {json.dumps({'hook_event_name': event.partition('.')[0], **_COMMON, **fields})}".encode()


KIND = Kind("hook inputs", seeds, meet, (*EVENTS, *_COMMON, "source", "trigger", "compact", "clear", "tool_response"))

"""What a transcript entry tells beside the conversation: its session, the one it was copied from, the size of the
context.
"""

from __future__ import annotations

from unified_state.lib.text.timestamps import to_milliseconds
from unified_state.model.step import Continuation, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.agents.transcripts.transcript_lines import Entry


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

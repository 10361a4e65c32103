"""Which reader a session's transcript has, by the host that the session ran in; and which host wrote a transcript."""

from __future__ import annotations

from unified_state.agents.transcripts.rules.hosts import HOSTS, host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.agents.transcripts.transcript_lines import Read


def host_reader(session_id: str) -> Read:
    """The reader of a session's transcript; one that finds nothing where its form is not known."""
    host = host_of(session_id)
    match host.transcript if host is not None else None:
        case "codex":
            from unified_state.agents.transcripts.codex import read_line
        case "gemini":
            from unified_state.agents.transcripts.gemini import read_line
        case "opencode":
            from unified_state.agents.transcripts.opencode import read_line
        case _:
            return _nothing
    return read_line


def told_by_host(line: dict[str, Any]) -> tuple[str, str | None] | None:
    """The session and the folder that the first line of another host's transcript tells; None for any other line."""
    payload = line.get("payload")
    if line.get("type") == "session_meta" and isinstance(payload, dict) and isinstance(payload.get("id"), str):
        cwd = payload.get("cwd")
        return HOSTS["codex"].session_id(payload["id"]), cwd if isinstance(cwd, str) else None
    if "projectHash" in line and isinstance(line.get("sessionId"), str):
        return HOSTS["gemini"].session_id(line["sessionId"]), None
    return None


def _nothing(_line: dict[str, Any]) -> Iterator[Any]:
    return iter(())

"""Which reader a session's transcript has, by the host that the session ran in."""

from __future__ import annotations

from unified_state.rules.hosts import host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from unified_state.services.transcript_facts import Read


def host_reader(session_id: str) -> Read:
    """The reader of a session's transcript; one that finds nothing where its form is not known."""
    host = host_of(session_id)
    match host.transcript if host is not None else None:
        case "codex":
            from unified_state.sources.codex import read_line
        case "gemini":
            from unified_state.sources.gemini import read_line
        case "opencode":
            from unified_state.sources.opencode import read_line
        case _:
            return _nothing
    return read_line


def _nothing(_line: dict[str, Any]) -> Iterator[Any]:
    return iter(())

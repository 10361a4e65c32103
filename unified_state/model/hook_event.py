"""What the client tells a hook on stdin, by its own field names. Fields vary by version: what is missing is empty."""

from __future__ import annotations

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BRIEF, WORKING_SET = PARTS = ("brief", "working_set")  # of what SessionStart gives back: each has a handler
HOST_MARK = ":"  # parts the host's name from the id that it gave a session; Claude Code's own ids have none
UNNAMED_HOST = "other"  # called a hook that was installed for Claude Code


class HookEvent(Record):
    """One call of a hook. `extra` holds the fields that only some events have (`source`, `trigger`, `prompt`, …)."""

    hook_event_name: str
    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    agent_id: str = ""
    agent_type: str | None = None
    extra: dict[str, Any] = {}

    @property
    def is_foreign(self) -> bool:
        """Whether another host calls the hooks that it found in Claude Code's settings (Copilot, VS Code and Cursor
        read those too): each of them tells something with every event that Claude Code does not.
        """
        return "timestamp" in self.extra or "cursor_version" in self.extra

    def text(self, name: str) -> str:
        """A field that only some events have, as text; empty if it is missing or not text."""
        value = self.extra.get(name)
        return value if isinstance(value, str) else ""

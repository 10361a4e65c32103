"""The input of a hook, by the client's own field names (a missing one is empty), and the moment of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unified_state.lib.record import Record

Head = Callable[[], tuple[str | None, str | None]]

BRIEF, WORKING_SET = PARTS = ("brief", "working_set")  # the parts of a restore at SessionStart: each has a handler
HOST_MARK = ":"  # separates the host's name from its session id; Claude Code's own ids have none
# In seconds, the client's unit. A hook ends itself earlier.
TIMEOUTS = {
    "SessionStart": 15,
    "UserPromptSubmit": 10,
    "Stop": 30,
    "SubagentStart": 10,
    "SubagentStop": 30,
    "PreCompact": 120,
    "SessionEnd": 5,
}
TOOL_TIMEOUT = 10
CALLS_EVENT = "PostToolBatch"  # used only after `install --tool-calls`
# The launcher's first argument where that is no event, and the module that it runs.
CHECK_WORD, SHORTEN_WORD, HOST_WORD, STATUS_WORD = "check-rules", "shorten", "host", "statusline"
HOOK_WORDS = {
    CHECK_WORD: "hook_tool_use",
    SHORTEN_WORD: "hook_tool_output",
    HOST_WORD: "host_hook",
    STATUS_WORD: "statusline",
}
LEAN_LEVELS = ("gentle", "middle", "tight")  # how much of a long tool output is left out
UNNAMED_HOST = "other"  # the host that called a hook installed for Claude Code


class HookEvent(Record):
    """One call of a hook. `extra` has the fields that only some events have (`source`, `trigger`, `prompt`, …)."""

    hook_event_name: str
    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    agent_id: str = ""
    agent_type: str | None = None
    extra: dict[str, Any] = {}

    @property
    def is_foreign(self) -> bool:
        """True if another host calls the hooks in Claude Code's settings.

        Copilot, VS Code and Cursor read those settings too. Each adds a field to every event that Claude Code does not
        send.
        """
        return "timestamp" in self.extra or "cursor_version" in self.extra

    def text(self, name: str) -> str:
        """Return a field that only some events have, as text; "" if it is missing or not text."""
        value = self.extra.get(name)
        return value if isinstance(value, str) else ""


class Moment:
    """The moment of a hook's or command's call: time in milliseconds, commit and branch of HEAD, and whether there is
    time left to start something new.
    """

    def __init__(
        self, now: int, head: Head = lambda: (None, None), has_time: Callable[[], bool] = lambda: True
    ) -> None:
        self.now = now
        self.has_time = has_time
        self._read_head = head
        self._head: tuple[str | None, str | None] | None = None

    def head(self) -> tuple[str | None, str | None]:
        """Return commit and branch of the worktree, read once."""
        if self._head is None:
            self._head = self._read_head()
        return self._head

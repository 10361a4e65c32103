"""One call of a hook: what the client said, whose session it is, and how much time there is."""

from __future__ import annotations

import time

from unified_state.capture.capture_transcript import Capture, Captured
from unified_state.memory.archive.pending_messages import Pending, keep_message
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.secrets.rules.mask import hide_private
from unified_state.model.hook_event import HOST_MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.hook_event import HookEvent
    from unified_state.settings import Settings


class HookCall:
    """Everything a handler needs. `started` is the monotonic clock at the start; `environ` that of the hook's
    process. After `let_client_go_on()` the client does not wait for the handler any more, and may kill it.
    """

    def __init__(
        self,
        event: HookEvent,
        workspace: Workspace,
        *,
        part: str,
        environ: Mapping[str, str],
        now: int,
        started: float,
        let_client_go_on: Callable[[], None],
    ) -> None:
        self.event = event
        self.workspace = workspace
        self.part = part
        self.environ = environ
        pid = environ.get("CLAUDE_PID", "")
        self.pid = int(pid) if pid.isascii() and pid.isdigit() else None
        self.now = now
        self.started = started
        self.let_client_go_on = let_client_go_on
        self.message = ""  # one line that the client shows the user, beside what the model is given

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.workspace.settings

    @property
    def is_enforced(self) -> bool:
        """Whether a hook of ours stops tool calls in this session. Those of other hosts are not asked before one."""
        return HOST_MARK not in self.event.session_id

    def capture(self, archive: Archive, seconds: float, *, postpones: bool = False) -> Captured:
        """Archive what is new in this session, for about so long; `postpones` where a prompt waits."""
        event = self.event
        if not event.transcript_path or not event.session_id:
            return Captured()
        return self.capturer(archive, seconds, postpones=postpones).session(event.transcript_path, event.session_id)

    def capturer(self, archive: Archive, seconds: float, *, postpones: bool = False) -> Capture:
        """A capture that begins nothing new once the hook has run for so many seconds."""
        return Capture(
            archive,
            self.workspace.masker,
            self.now,
            lambda: time.monotonic() - self.started < seconds,
            head=self.workspace.head,
            postpones=postpones,
        )

    def keep(self, archive: Archive, kind: str, text: str) -> None:
        """Remember a message of this session that its transcript may not hold yet."""
        if self.event.session_id:
            masked = self.workspace.masker.text(hide_private(text))
            keep_message(archive, self.event.session_id, Pending(kind, masked, self.now))

    def session(self, archive: Archive, predecessor: str | None = None) -> int:
        """The number of this session, noted as alive in this worktree and process. Call it in a transaction."""
        return touch_session(
            archive,
            self.event.session_id or "unknown",
            self.now,
            worktree=self.workspace.place.repository.worktree,
            pid=self.pid,
            predecessor=predecessor,
        )

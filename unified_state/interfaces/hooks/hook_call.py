"""One call of a hook: the event, its repository, and the time left."""

from __future__ import annotations

from collections.abc import Mapping

from unified_state.archive.archive import Archive
from unified_state.archive.pending_messages import PendingMessage, keep_message
from unified_state.archive.sessions import (
    Cursor,
    move_cursor,
    read_cursor,
    session_id_of,
    touch_session,
)
from unified_state.capture.capture_transcript import Capture
from unified_state.model.hook_event import HOST_MARK, HookEvent, Moment
from unified_state.project.workspace.workspace import Workspace


class HookCall:
    """The data for a handler. `environ` is the environment of the hook's process."""

    def __init__(
        self,
        event: HookEvent,
        workspace: Workspace,
        moment: Moment,
        *,
        part: str,
        environ: Mapping[str, str],
    ) -> None:
        self.event = event
        self.workspace = workspace
        self.settings = workspace.settings
        self.moment, self.now = moment, moment.now
        self.part = part
        self.environ = environ
        pid = environ.get("CLAUDE_PID", "")
        self.pid = int(pid) if pid.isascii() and pid.isdigit() else None
        self.message = ""  # one line for the user, in addition to the context for the model
        self.reply = ""  # for the user, in place of the model's answer

    @property
    def is_enforced(self) -> bool:
        """Return whether our hook checks the tool calls of this session. Other hosts have no hook before a tool."""
        return HOST_MARK not in self.event.session_id

    @property
    def trigger(self) -> str | None:
        """Return what began the compaction, "manual" or "auto" in Claude Code."""
        return self.workspace.masker.text(self.event.text("trigger")) or None

    def capture(self, archive: Archive, *, postpones: bool = False) -> None:
        """Archive the new steps of this session. `postpones` is set while a prompt waits."""
        event = self.event
        if event.transcript_path and event.session_id:
            self.capturer(archive, postpones=postpones).session(event.transcript_path, event.session_id)

    def capturer(self, archive: Archive, *, postpones: bool = False) -> Capture:
        """Return a capture that stops when the time of this call is used up."""
        workspace = self.workspace
        return Capture(archive, workspace.masker, self.moment, postpones=postpones, report=workspace.report)

    def keep(self, archive: Archive, kind: str, text: str) -> None:
        """Store a message of this session that its transcript may not contain yet."""
        if self.event.session_id:
            masked = self.workspace.masker.typed(text)
            keep_message(archive, self.event.session_id, PendingMessage(kind, masked, self.now))

    def session(self, archive: Archive, predecessor: str | None = None) -> int:
        """Return the number of this session, recorded as alive in this worktree and process. Call it in a
        transaction.
        """
        return touch_session(
            archive,
            self.event.session_id or "unknown",
            self.now,
            now=self.now,
            worktree=self.workspace.place.repository.worktree,
            pid=self.pid,
            predecessor=predecessor,
        )

    def register(self, archive: Archive, predecessor: int | None = None, *, knows_news: bool = False) -> int:
        """Record this session with its transcript and return its number.

        It is recorded before the file exists, because a killed client calls no further hook. With `knows_news` its
        restore includes all decisions up to now.
        """
        with archive.transaction(durable=False):
            session = self.session(archive, session_id_of(archive, predecessor))
            if knows_news:
                from unified_state.restore.restore_table import know_news

                know_news(archive, session)
            path = self.event.transcript_path
            if path and read_cursor(archive, path) is None:
                move_cursor(archive, Cursor(path=path, session=session, agent=None, offset=0, inode=None, turn=None))
        return session

    def registered(self, archive: Archive) -> int:
        """Return the number of this session, and register it if no hook did: its capture alone knows neither worktree
        nor process.
        """
        known = archive.row("SELECT id, worktree FROM session WHERE session_id = ?", self.event.session_id)
        return int(known[0]) if known and known[1] else self.register(archive)

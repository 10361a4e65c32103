"""The state file as a projection of the ledger: what each worktree's file says, and when items leave it.

Adding an item or saving the state ends here: the file is read under its lock, what somebody else changed in it is
adopted, and it is written anew from the ledger. A crash before that leaves an older but whole file, which the next
write brings up.
"""

from __future__ import annotations

import os

from unified_state.errors import DamagedFileError, StorageError, UnifiedStateError
from unified_state.lib.record import Record, disk_value
from unified_state.lib.stdlib import dump_json, parse_json
from unified_state.lib.times import to_text
from unified_state.memory.archive.pending_messages import is_running
from unified_state.memory.archive.session_notes import open_notes, pending_actions
from unified_state.memory.archive.sessions import working_sessions
from unified_state.memory.ledger.item_table import items_in_file
from unified_state.memory.ledger.rules.short_item import key_decisions, sections_of
from unified_state.memory.repository.git_exclude import exclude_from_git
from unified_state.memory.repository.place import EXCLUDED, NAME, may_have_journals
from unified_state.memory.state_file.adopt import adopt
from unified_state.memory.state_file.page_out import estimated_tokens, page_out
from unified_state.memory.state_file.rules.read_state import drop_texts, keep_unknown, last_save, read_section
from unified_state.memory.state_file.rules.state_budget import budget_status
from unified_state.memory.state_file.state_file import StateContent, StateFile
from unified_state.model.session_state import (
    STATE_VERSION,
    GitState,
    SessionRecord,
    State,
    Summaries,
    TokenMetrics,
    Workflow,
    WorkItem,
)
from unified_state.restore.rules_file import is_wanted, write_rules_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.archive.sessions import WorkingSession
    from unified_state.memory.repository.place import Place
    from unified_state.memory.secrets.masker import Masker
    from unified_state.model.item import LedgerItem
    from unified_state.settings import Settings

    Counter = Callable[[Sequence[str]], list[int]]

_HIGHLIGHTS, _PENDING = 5, 20


class Projected(Record):
    """What a write of the state file did: the state, how many foreign items were adopted, and what a person should know
    of it, a line each.
    """

    state: State
    adopted: int = 0
    problems: tuple[str, ...] = ()


class Projection:
    """Writes the state file of one place from its archive. Without `count_tokens` (in hooks) nothing is paged out."""

    def __init__(
        self,
        archive: Archive,
        place: Place,
        settings: Settings,
        masker: Masker,
        now: int,
        count_tokens: Counter | None = None,
    ) -> None:
        self._archive = archive
        self._masker = masker
        self._place = place
        self._settings = settings
        self._now = now
        self._count_tokens = count_tokens
        self._file = StateFile(place.state_path, place.digest_path)

    def check(self) -> None:
        """Raise NewerVersionError where the file is a newer version's: nothing is recorded that it could not show."""
        try:
            self._file.load()
        except (DamagedFileError, StorageError):
            return  # the next write sets it aside, or says that it cannot

    def save(self, trigger: str, git: GitState) -> Projected:
        """Write the file with a fresh git state."""
        masked = self._masker.json(dump_json(disk_value(git)))
        with self._archive.transaction():
            self._archive.run(
                "INSERT OR REPLACE INTO saved VALUES (?, ?, ?, ?)",
                self._place.state_path,
                to_text(self._now),
                trigger,
                masked,
            )
        return self.refresh()

    def refresh(self, leaves: Callable[[str], bool] | None = None) -> Projected:
        """Write the file as the ledger has it now; its save time and git state stay. Of what others wrote into it, all
        stays but the texts of which `leaves` says that they go.
        """
        adopted: list[int] = []
        contents: list[StateContent] = []

        def change(content: StateContent) -> State:
            present = self._usable(content, leaves)
            contents.append(content)
            # What waits to be merged is nobody else's, though the archive does not know it yet.
            waits = self._waits()
            adopted.append(0 if waits else adopt(self._archive, content.replace(json=present), self._now))
            state = self._state(present)
            as_before = state.replace(updated_at=_text(present.get("updatedAt")))
            return as_before if disk_value(as_before) == content.json else state

        if not os.path.lexists(self._place.state_path):
            shared = NAME if self._settings.share_state_file else None
            exclude_from_git(self._place, [name for name in EXCLUDED if name != shared])
        state = self._file.update(change)
        aside = contents[0].set_aside
        damaged = f"the state file was damaged; it was set aside as {aside}" if aside else None
        return Projected(state, adopted[0], tuple(filter(None, (damaged, self._write_rules()))))

    def _waits(self) -> bool:
        """Whether something waits to be merged, or the archive itself stands in for another one."""
        if self._archive.meta("stands in") or not may_have_journals(self._place):
            return self._archive.meta("stands in") is not None
        from unified_state.memory.journal.journal_places import waiting_journals  # hardly ever

        return bool(waiting_journals(self._place, is_tier=self._settings.tier == "json"))

    def _write_rules(self) -> str | None:
        """Bring the rules file up to date where one is wanted; what went wrong. The ledger has everything already."""
        try:
            if is_wanted(self._place):
                write_rules_file(self._archive, self._place, self._settings, self._now)
        except UnifiedStateError as error:
            return str(error)
        return None

    def _usable(self, content: StateContent, leaves: Callable[[str], bool] | None) -> dict[str, Any]:
        """What the file says, with its secrets masked where others wrote it, who may have put some in, and where texts
        are to go, which may be secrets by the rules of today.
        """
        usable: dict[str, Any] = content.json or {}
        if not content.is_ours or leaves is not None:
            usable = parse_json(self._masker.json(dump_json(usable)))
        if leaves is not None:
            drop_texts(usable, leaves)
        return usable

    def _state(self, present: dict[str, Any]) -> State:
        items, truncated = self._items()
        at, trigger, git = self._saved(present)
        alive = self._alive_sessions()
        state = State(
            version=STATE_VERSION,
            timestamp=at,
            trigger=trigger,
            repository=self._place.id,
            updated_at=to_text(self._now),
            git=git,
            work_item=(_work_item(alive[0]) if alive else None) or read_section(WorkItem, present.get("workItem")),
            workflow=_workflow(alive[0] if alive else None, present),
            **sections_of(items),
            summaries=self._summaries(items, alive[0].number if alive else None),
            token_metrics=self._metrics(items, present, truncated=truncated),
            sessions={session.session_id: self._session_record(session) for session in alive},
        )
        return keep_unknown(state, present)

    def _saved(self, present: dict[str, Any]) -> tuple[str, Any, GitState]:
        """When, why and with which git state the file was saved last; what the file itself says if we never did."""
        saved = self._archive.row("SELECT at, trigger, git FROM saved WHERE state_path = ?", self._place.state_path)
        if saved is not None:
            at, trigger, git = saved
            return at, trigger, GitState.from_disk(parse_json(git))
        return last_save(present, self._now)

    def _items(self) -> tuple[list[LedgerItem], bool]:
        """The items that the file shows, and whether some just left it."""
        items = items_in_file(self._archive)
        if self._count_tokens is None:
            return items, False
        kept = page_out(self._archive, items, self._settings, self._count_tokens, self._now)
        return kept, len(kept) < len(items)

    def _metrics(self, items: list[LedgerItem], present: dict[str, Any], *, truncated: bool) -> TokenMetrics:
        tokens = estimated_tokens(self._archive, items)
        before = present.get("tokenMetrics")
        last = before.get("lastTruncation") if isinstance(before, dict) else None
        return TokenMetrics(
            estimated_tokens=tokens,
            budget_status=budget_status(tokens, self._settings.budget_target, self._settings.budget_max),
            last_truncation=to_text(self._now) if truncated else _text(last),
        )

    def _alive_sessions(self) -> list[WorkingSession]:
        """The sessions that the file shows: those that were seen lately and whose client still runs."""
        since = self._now - self._settings.session_hours * 3_600_000
        sessions = working_sessions(self._archive, self._place.repository.worktree, since)
        return [session for session in sessions if is_running(session.pid)]

    def _session_record(self, session: WorkingSession) -> SessionRecord:
        return SessionRecord(
            updated_at=to_text(session.seen_at),
            work_item=_work_item(session),
            highlights=open_notes(self._archive, session.number, "highlight", _HIGHLIGHTS),
            pending_actions=pending_actions(self._archive, session.number, _PENDING),
            branch=session.work.get("branch"),
            commit=session.work.get("commit"),
        )

    def _summaries(self, items: list[LedgerItem], session: int | None) -> Summaries:
        return Summaries(
            context_highlights=open_notes(self._archive, session, "highlight", _HIGHLIGHTS),
            key_decisions=key_decisions(items),
            pending_actions=pending_actions(self._archive, session, _PENDING),
        )


def _work_item(session: WorkingSession) -> WorkItem | None:
    fields = session.work.get("workItem")
    return None if fields is None else read_section(WorkItem, fields)


def _workflow(session: WorkingSession | None, present: dict[str, Any]) -> Workflow:
    before = read_section(Workflow, present.get("workflow"))
    if session is None:
        return before
    work_item = _work_item(session)
    phase = (work_item.phase if work_item else None) or before.current_phase
    return before.replace(current_phase=phase, tool_executions=session.tool_calls)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

"""The state file from a JSON history. It is written as from an archive, with three differences: nothing is adopted from
the file, what it shows and the history does not have stays as it is, and sizes are estimated.
"""

from __future__ import annotations

import os

from unified_state.errors import DamagedFileError
from unified_state.interpreter import dump_json, parse_json
from unified_state.records.record import disk_value
from unified_state.records.state import (
    STATE_VERSION,
    GitState,
    SessionRecord,
    State,
    Summaries,
    TokenMetrics,
    Workflow,
    WorkItem,
)
from unified_state.rules.budget import budget_status, leaving
from unified_state.rules.short_form import key_decisions, sections_of, short_form
from unified_state.rules.state_reading import drop_texts, keep_unknown, last_save, read_section
from unified_state.rules.timestamps import to_text
from unified_state.services.git_exclude import exclude_from_git
from unified_state.services.json_tier.carrying import carried_items
from unified_state.services.pending import is_running
from unified_state.services.place import EXCLUDED, NAME, digest_path_of
from unified_state.storage.state_file import StateFile
from unified_state.storage.tiers.json_desk import NOTES, SAVED, WORK
from unified_state.storage.tiers.json_tables import Tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from unified_state.records.item import LedgerItem
    from unified_state.services.json_tier.history import JsonHistory
    from unified_state.services.workspace import Workspace
    from unified_state.storage.state_file import StateContent

_CHARACTERS_PER_TOKEN = 3.2
_NOTES = 20


class JsonProjection:
    """Writes the state file of a workspace from its JSON history."""

    def __init__(self, history: JsonHistory, workspace: Workspace, now: int) -> None:
        self._history = history
        self._workspace = workspace
        self._now = now
        path = workspace.place.state_path
        self._before = StateFile(path, workspace.place.digest_path)
        # Beside the archive nothing may be written now.
        beside = digest_path_of(history.files.folder, path)
        self._file = StateFile(path, beside) if history.is_fallback else self._before

    def present(self) -> dict[str, Any]:
        """What the file says now; nothing where it is damaged, which the next write sets aside."""
        try:
            return self._file.load().json or {}
        except DamagedFileError:
            return {}

    def trusted(self) -> dict[str, Any]:
        """The same, of a file that nobody else has written to."""
        try:
            found = [file.load() for file in (self._file, self._before)]
        except DamagedFileError:
            return {}
        return next((content.json or {} for content in found if content.is_ours), {})

    def save(self, trigger: str, git: GitState) -> State:
        """Write the file with a fresh git state."""
        told = self._workspace.masker.json(dump_json(disk_value(git)))
        saved = {"at": to_text(self._now), "trigger": trigger, "git": told}
        path = self._workspace.place.state_path
        self._history.desk.change(lambda desk: desk[SAVED].__setitem__(path, saved))
        return self.refresh()

    def refresh(self, leaves: Callable[[str], bool] | None = None) -> State:
        """Write the file as the history has it now; of what it said before, the texts go of which `leaves` says so."""
        place = self._workspace.place
        if not os.path.lexists(place.state_path):
            shared = NAME if self._workspace.settings.share_state_file else None
            exclude_from_git(place, [name for name in EXCLUDED if name != shared])
        if self._history.is_fallback:
            self._history.files.ensure()
        return self._file.update(lambda content: self._changed(content, leaves))

    def _changed(self, content: StateContent, leaves: Callable[[str], bool] | None) -> State:
        if content.set_aside is not None:
            self._workspace.report(f"the state file was damaged; it was set aside as {content.set_aside}")
        present = content.json or {}
        if leaves is not None:
            drop_texts(present, leaves)
        state = self._state(present)
        as_before = state.replace(updated_at=present.get("updatedAt"))
        return as_before if disk_value(as_before) == content.json else state

    def _state(self, present: dict[str, Any]) -> State:
        taken = Tables(self._history.files).taken
        own = (item for item in self._history.store.items() if item.paged_out_at is None)
        items = [*carried_items(present, taken, self._now), *own]
        shown, tokens = self._within_budget(items)
        desk = self._history.desk.read()
        alive = self._alive(desk)
        work = next((one["work_item"] for one in alive.values() if one.get("work_item")), None)
        saved = desk[SAVED].get(self._workspace.place.state_path)
        settings = self._workspace.settings
        at, trigger, git = _saved(saved, present, self._now)
        state = State(
            version=STATE_VERSION,
            timestamp=at,
            trigger=trigger,
            repository=self._workspace.place.id,
            updated_at=to_text(self._now),
            git=git,
            work_item=read_section(WorkItem, work or present.get("workItem")),
            workflow=read_section(Workflow, present.get("workflow")),
            **sections_of(shown),
            summaries=_summaries(desk, shown, next(iter(alive), None), present),
            token_metrics=TokenMetrics(
                estimated_tokens=tokens,
                budget_status=budget_status(tokens, settings.budget_target, settings.budget_max),
            ),
            sessions={name: _session(desk, name, one) for name, one in alive.items()},
        )
        return keep_unknown(state, present)

    def _within_budget(self, items: list[LedgerItem]) -> tuple[list[LedgerItem], int]:
        """The items that the file has room for, and their size in tokens."""
        settings = self._workspace.settings
        sizes = {item.uuid: size_of(item) for item in items}
        target = max(settings.budget_target, settings.budget_min)
        gone = leaving(items, sizes, sum(sizes.values()), target, settings.budget_max)
        left = {item.uuid for item in gone}
        shown = [item for item in items if item.uuid not in left]
        return shown, sum(sizes[item.uuid] for item in shown)

    def _alive(self, desk: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The sessions of this worktree that were seen lately and have not ended, the newest first."""
        since = self._now - self._workspace.settings.session_hours * 3_600_000
        worktree = self._workspace.place.repository.worktree
        found = [
            (name, one)
            for name, one in desk[WORK].items()
            if one.get("worktree") == worktree
            and one.get("seen_at", 0) >= since
            and not one.get("ended")
            and is_running(one.get("pid"))
        ]
        return dict(sorted(found, key=lambda session: session[1].get("seen_at", 0), reverse=True))


def size_of(item: LedgerItem) -> int:
    """The size of an item in the state file, estimated in tokens."""
    return round(len(dump_json(disk_value(short_form(item)))) / _CHARACTERS_PER_TOKEN)


def open_notes(desk: dict[str, Any], kind: str, session_id: str | None) -> tuple[str, ...]:
    """The newest notes of a kind, of a session and of none, that are not done."""
    found = [
        note["text"]
        for note in desk[NOTES]
        if note["kind"] == kind and not note.get("done_at") and note.get("session_id") in {None, session_id}
    ]
    return tuple(found[-_NOTES:])


def _saved(saved: dict[str, Any] | None, present: dict[str, Any], now: int) -> tuple[str, Any, GitState]:
    """When, why and with which git state the file was saved last; what the file itself says if we never did."""
    if saved is not None:
        return saved["at"], saved["trigger"], GitState.from_disk(parse_json(saved["git"]))
    return last_save(present, now)


def _session(desk: dict[str, Any], name: str, one: dict[str, Any]) -> SessionRecord:
    return SessionRecord(
        updated_at=to_text(one.get("seen_at", 0)),
        work_item=read_section(WorkItem, one["work_item"]) if one.get("work_item") else None,
        highlights=open_notes(desk, "highlight", name),
        pending_actions=open_notes(desk, "action", name),
        branch=one.get("branch"),
        commit=one.get("commit"),
    )


def _summaries(
    desk: dict[str, Any], items: list[LedgerItem], session_id: str | None, present: dict[str, Any]
) -> Summaries:
    """Notes; where none were made here those that the file shows stay."""
    before = read_section(Summaries, present.get("summaries"))
    return Summaries(
        context_highlights=open_notes(desk, "highlight", session_id) or before.context_highlights,
        key_decisions=key_decisions(items),
        pending_actions=open_notes(desk, "action", session_id) or before.pending_actions,
    )

"""The state of a session is saved with the current git state, and the state files of worktrees are refreshed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.archive.session_work import (
    add_note,
    add_notes,
    change_note,
    change_work,
    close_notes,
    find_note,
    move_note,
    read_work,
)
from unified_state.errors import UnifiedStateError
from unified_state.ledger.change_log import ADDS, CLOSES, REOPENS, log_note
from unified_state.ledger.item_table import find_item
from unified_state.ledger.record_item import checked, of_kind
from unified_state.lib.json_text import dump_json
from unified_state.lib.record import disk_value
from unified_state.lib.times import current_time, to_text
from unified_state.lib.tokens import count_tokens
from unified_state.model.item import EVIDENCE
from unified_state.model.refs import note_number
from unified_state.model.session_state import GitState, Note, State
from unified_state.project.workspace.workspace import Workspace, open_workspace
from unified_state.settings import environment
from unified_state.state_file.state_file import written_state_files
from unified_state.state_file.writer.record_state import Counter, check_version, record, refresh_state, whole_state


def change_work_item(workspace: Workspace, changes: dict[str, Any]) -> dict[str, Any]:
    """Change the given fields of the session's work item, and return the whole item. What is `verified` is added to the
    rest; another work item begins without it and without a goal. Raises UsageError for what is no evidence.
    """

    def action(archive: Archive, now: int) -> dict[str, Any]:
        commit, branch = workspace.head()
        with archive.transaction():
            session = workspace.session_number(archive, now)
            before = read_work(archive, session).get("workItem", {})
            if changes.get("id", before.get("id")) != before.get("id"):
                before = {name: value for name, value in before.items() if name not in {"goal", "verified"}}
            item = {**before, **changes}
            if verified := [of_kind(find_item(archive, ref), EVIDENCE).alias for ref in changes.get("verified") or ()]:
                item["verified"] = list(dict.fromkeys([*(before.get("verified") or ()), *verified]))
            change_work(archive, session, {"workItem": item, "branch": branch, "commit": commit})
            kept: dict[str, Any] = read_work(archive, session)["workItem"]  # with secrets masked
        return kept

    return record(workspace, action)


def save(
    workspace: Workspace, trigger: str, highlights: Sequence[str] = (), actions: Sequence[str] | None = None
) -> State:
    """Save the state with the current git state, and return it.

    `highlights` are added. `actions`, if given, replace the open ones.
    """
    from unified_state.project.git_command import GitPythonProcesses
    from unified_state.project.git_state import read_git
    from unified_state.project.identity import remember

    git = read_git(workspace.place.repository.worktree, environment(), start=GitPythonProcesses)
    now = current_time()
    noted: list[int] = []  # a second attempt, in a new archive, must not repeat the notes

    def use(archive: Archive) -> State:
        check_version(workspace.place)
        with archive.transaction():
            session = workspace.session_number(archive, now)
            if not noted:
                owner, at = session if workspace.session_id else None, to_text(now)
                add_notes(archive, owner, "highlight", highlights, at)
                if actions is not None:
                    close_notes(archive, session, "action", at)
                    add_notes(archive, owner, "action", actions, at)
            change_work(archive, session, {"branch": git.branch, "commit": git.commit})
        noted.append(session)
        return save_state(archive, workspace, now, trigger, git, count_tokens)

    saved = workspace.use(use)
    remember(workspace.place.repository, workspace.place.folder)
    return saved


def record_note(workspace: Workspace, kind: str, text: str) -> Note:
    """Record a to-do or a highlight, and return it."""
    masked = checked("text", text, workspace.mask)

    def action(archive: Archive, now: int) -> Note:
        with archive.transaction():
            owner = workspace.session_number(archive, now) if workspace.session_id else None
            note = add_note(archive, owner, kind, masked, to_text(now))
            log_note(archive, ADDS, workspace.origin, workspace.session_id, note, to_text(now))
            return note

    return record(workspace, action)


def correct_note(
    workspace: Workspace, number: int, *, text: str | None = None, done: bool | None = None, before: str | None = None
) -> Note:
    """Change a to-do or a highlight, end it or open it again, put it before another one, and return it."""
    masked = None if text is None else checked("text", text, workspace.mask)

    def action(archive: Archive, now: int) -> Note:
        with archive.transaction():
            known = find_note(archive, number)
            if before is not None:
                move_note(archive, number, note_number(before) or 0)
            note = change_note(archive, number, to_text(now), text=masked, done=done)
            if note.done != known.done:
                verb = CLOSES if note.done else REOPENS
                log_note(archive, verb, workspace.origin, workspace.session_id, note, to_text(now))
            return note

    return record(workspace, action)


def refresh(workspace: Workspace, *, is_anew: bool = False) -> State:
    """Update the state file from the ledger, and return the state. Nothing of its own stays in a file written anew."""
    return workspace.use(
        lambda archive: refresh_state(archive, workspace, current_time(), count_tokens, is_anew=is_anew)
    )


def load(workspace: Workspace) -> State:
    """Update the state file from the ledger, and return the whole state, of which the file holds what fits."""

    def use(archive: Archive) -> State:
        now = current_time()
        return whole_state(archive, workspace, now, refresh_state(archive, workspace, now, count_tokens))

    return workspace.use(use)


def existing_state_files(workspace: Workspace) -> list[str]:
    """Return the state files of a repository's worktrees, including those of linked clones."""
    paths = {workspace.place.state_path, *written_state_files(workspace.place.folder)}
    return sorted(filter(os.path.lexists, paths))


def refresh_worktrees(workspace: Workspace, *, is_anew: bool = False) -> None:
    """Refresh the state files of all worktrees. A failure to write one is reported."""
    for path in existing_state_files(workspace):
        try:
            owner = workspace if path == workspace.place.state_path else _owner(path, workspace)
            if owner.place.archive_path == workspace.place.archive_path:
                refresh(owner, is_anew=is_anew)
        except UnifiedStateError as error:
            workspace.report(f"the state file {path} was not refreshed: {error}")


def _owner(path: str, workspace: Workspace) -> Workspace:
    folder = os.path.dirname(os.path.dirname(path))
    owner = open_workspace(folder, None, report=workspace.report, create=False, around_use=workspace.around_use)
    return owner.replace(seconds=workspace.seconds)


def save_state(
    archive: Archive,
    workspace: Workspace,
    now: int,
    trigger: str,
    git: GitState,
    count_tokens: Counter | None = None,
) -> State:
    """Write the state file with a fresh git state, and return the state."""
    masked = workspace.masker.json(dump_json(disk_value(git)))
    with archive.transaction():
        archive.run(
            "INSERT OR REPLACE INTO saved VALUES (?, ?, ?, ?)",
            workspace.place.state_path,
            to_text(now),
            trigger,
            masked,
        )
    return refresh_state(archive, workspace, now, count_tokens)

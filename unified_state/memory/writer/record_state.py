"""Recording: an action changes the ledger, and the state file of the worktree is updated.

The result of `record` is durable. While the archive cannot be used, the action runs in a journal instead.
"""

from __future__ import annotations

import os

from unified_state.errors import ArchiveBusyError, NotFoundError, StorageError, UnifiedStateError
from unified_state.lib.times import current_time, to_text
from unified_state.memory.archive.session_notes import add_notes, close_notes
from unified_state.memory.archive.sessions import change_work, read_work
from unified_state.memory.ledger.gate import NotAtGateError
from unified_state.memory.ledger.record_item import hints, lift, record_item, resolve, supersede
from unified_state.memory.ledger.rules.short_item import short_form
from unified_state.memory.state_file.state_file import written_state_files
from unified_state.memory.workspace.workspace import UNAVAILABLE, open_workspace
from unified_state.memory.writer.refresh_state import check_version, refresh_state, save_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.ledger.find_sources import Source
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.item import Entry, LedgerItem
    from unified_state.model.session_state import State

    T = TypeVar("T")


def record(workspace: Workspace, action: Callable[[Archive, int], T], *refs: str | None) -> T:
    """Return action(archive, now), and update the state file. `refs` name the items that the action changes.

    A failure to write the state file is reported, not raised, because the ledger already has the change.
    """
    done: list[T] = []

    def use(here: Workspace, archive: Archive) -> T:
        now = current_time()
        check_version(here.place)
        if os.path.lexists(here.place.state_path) and not archive.row("SELECT 1 FROM item LIMIT 1"):
            _show(here, archive, now)  # a new archive continues the numbers of an older state file
        try:
            done.append(action(archive, now))
        except NotAtGateError:
            _show(here, archive, now)  # a refused lift has recorded a proposal
            raise
        _show(here, archive, now)
        return done[-1]

    return _use(workspace, use, refs, done)


def add_item(
    workspace: Workspace,
    kind: str,
    body: dict[str, Any],
    *,
    supersedes: str | None = None,
    source: Source | None = None,
) -> Entry:
    """Record an item, which may supersede another one, and return its entry.

    `source` is the archived passage that states it.
    """
    author = workspace.author()
    if source is not None:
        author = author.replace(origin=source.origin, source_uuid=source.uuid, quote=source.quote)

    def action(archive: Archive, now: int) -> LedgerItem:
        item = record_item(archive, kind, body, author, masker=workspace.masker, now=now, supersedes=supersedes)
        for line in hints(archive, item):
            workspace.advise(line)
        return item

    return short_form(record(workspace, action, supersedes))


def supersede_decision(workspace: Workspace, ref: str, by: str) -> Entry:
    """Mark a decision as superseded by another one, and return the entry of the other one."""
    author = workspace.author()
    return short_form(record(workspace, lambda archive, now: supersede(archive, ref, by, author, now=now), ref, by))


def resolve_question(workspace: Workspace, ref: str, resolution: str) -> Entry:
    """Close an open question and return its entry."""
    author, masker = workspace.author(), workspace.masker

    def action(archive: Archive, now: int) -> LedgerItem:
        return resolve(archive, ref, resolution, author, masker=masker, now=now)

    return short_form(record(workspace, action, ref))


def lift_constraint(workspace: Workspace, ref: str) -> Entry:
    """Lift a constraint and return its entry.

    If only the table of enforced constraints has it, end its enforcement and raise NotFoundError.
    """
    author, masker = workspace.author(), workspace.masker

    def action(archive: Archive, now: int) -> LedgerItem:
        try:
            return lift(archive, ref, author, masker=masker, now=now)
        except NotFoundError:
            is_in_use = workspace.journal is not None or archive.path == workspace.place.archive_path
            from unified_state.constraints.compile_constraints import end_lost

            if is_in_use and end_lost(workspace, ref):  # a journal that stands in does not know what is lost
                workspace.report(f"{ref} is no longer in the ledger; its enforcement was ended")
            raise

    return short_form(record(workspace, action, ref))


def change_work_item(workspace: Workspace, changes: dict[str, Any]) -> dict[str, Any]:
    """Change the given fields of the session's work item, and return the whole item."""
    masked = {
        name: workspace.masker.text(value) if isinstance(value, str) else value for name, value in changes.items()
    }

    def action(archive: Archive, now: int) -> dict[str, Any]:
        commit, branch = workspace.head()
        with archive.transaction():
            session = workspace.session_number(archive, now)
            item = {**read_work(archive, session).get("workItem", {}), **masked}
            change_work(archive, session, {"workItem": item, "branch": branch, "commit": commit})
        return item

    return record(workspace, action)


def save(
    workspace: Workspace, trigger: str, highlights: Sequence[str] = (), actions: Sequence[str] | None = None
) -> State:
    """Save the state with the current git state, and return it.

    `highlights` are added. `actions`, if given, replace the open ones.
    """
    from unified_state.memory.repository.git_library import read_git_with_gitpython
    from unified_state.memory.state_file.calibrate import calibrate
    from unified_state.memory.workspace.link import note_about
    from unified_state.settings import environment

    git, now = read_git_with_gitpython(workspace.place.repository.worktree, environment()), current_time()
    used: list[Workspace] = []  # a second attempt, in a new archive or a journal, must not repeat the notes

    def use(here: Workspace, archive: Archive) -> State:
        check_version(here.place)
        with archive.transaction():
            session = here.session_number(archive, now)
            if not used:
                _note(here, archive, session, to_text(now), highlights, actions)
            change_work(archive, session, {"branch": git.branch, "commit": git.commit})
        used.append(here)
        calibrate(archive, now)
        return save_state(archive, here, now, trigger, git, _count_tokens)

    saved = _use(workspace, use)
    note_about(used[-1].place)
    return saved


def _note(
    workspace: Workspace,
    archive: Archive,
    session: int,
    at: str,
    highlights: Sequence[str],
    actions: Sequence[str] | None,
) -> None:
    owner = session if workspace.session_id else None
    add_notes(archive, owner, "highlight", map(workspace.masker.text, highlights), at)
    if actions is not None:
        close_notes(archive, session, "action", at)
        add_notes(archive, owner, "action", map(workspace.masker.text, actions), at)


def refresh(workspace: Workspace, leaves: Callable[[str], bool] | None = None) -> State:
    """Update the state file from the ledger, and return the state. Texts of others that `leaves` selects are
    removed.
    """

    def use(here: Workspace, archive: Archive) -> State:
        return refresh_state(archive, here, current_time(), leaves, _count_tokens)

    return _use(workspace, use, records=False)


def existing_state_files(workspace: Workspace) -> list[str]:
    """Return the state files of a repository's worktrees, including those of linked clones."""
    paths = {workspace.place.state_path, *written_state_files(workspace.place.folder)}
    return sorted(filter(os.path.lexists, paths))


def refresh_worktrees(workspace: Workspace, leaves: Callable[[str], bool] | None = None) -> None:
    """Refresh the state files of all worktrees. A failure to write one is reported."""
    for path in existing_state_files(workspace):
        try:
            owner = workspace if path == workspace.place.state_path else _owner(path, workspace)
            if owner.place.archive_path == workspace.place.archive_path:
                refresh(owner, leaves)
        except UnifiedStateError as error:
            workspace.report(f"the state file {path} was not refreshed: {error}")


def _owner(path: str, workspace: Workspace) -> Workspace:
    folder = os.path.dirname(os.path.dirname(path))
    owner = open_workspace(folder, None, report=workspace.report, create=False, around_use=workspace.around_use)
    return owner.replace(seconds=workspace.seconds)


def _use(
    workspace: Workspace,
    action: Callable[[Workspace, Archive], T],
    refs: Sequence[str | None] = (),
    done: Sequence[T] = (),
    *,
    records: bool = True,
) -> T:
    """Return action(workspace, archive).

    If the archive fails after the action was done, return the last of `done`. If the archive cannot be used, run the
    action in a journal and report that. An action that only reads is not run in a journal because of a busy archive.
    """
    try:
        return workspace.use(lambda archive: action(workspace, archive))
    except UNAVAILABLE as error:
        if workspace.journal is not None or (isinstance(error, ArchiveBusyError) and not records):
            raise
        if not done:
            return _use_journal(workspace, action, refs, error)
        workspace.report(f"recorded, but {error}")
        return done[-1]


def _use_journal(
    workspace: Workspace,
    action: Callable[[Workspace, Archive], T],
    refs: Sequence[str | None],
    error: UnifiedStateError,
) -> T:
    """Run the action in a journal. If no journal can be written either, raise the archive's own error."""
    from unified_state.memory.workspace.carry_items import check_not_carried

    beside = workspace.stand_in(error.message)

    def use(archive: Archive) -> T:
        check_not_carried(archive, refs, error.message)
        return action(beside, archive)

    try:
        result = beside.use(use)
    except StorageError:
        raise error from None
    why = "; ".join(filter(None, error.args))  # without the hint about an earlier journal
    workspace.report(f"{why}; it is kept in {beside.journal}, and joins the archive once that can be used")
    if "scope" in getattr(result, "body", ()):
        workspace.advise("it is enforced once the archive can be used")
    return result


def _show(workspace: Workspace, archive: Archive, now: int) -> None:
    try:
        refresh_state(archive, workspace, now, None, _count_tokens)
    except StorageError as error:
        workspace.report(f"recorded, but {error}")


def _count_tokens(texts: Sequence[str]) -> list[int]:
    from unified_state.lib.tokens import count_tokens

    return count_tokens(texts)

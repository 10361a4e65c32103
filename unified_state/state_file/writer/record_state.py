"""Recording: an action changes the ledger, and the state file of the worktree follows.

The result of `record` is durable. While the archive cannot be used, a new item waits for it. The state file is read
under its lock, what others wrote is proposed, and it is rewritten from the ledger. A crash before that leaves an older
but complete file, which the next write updates. The rules file, if the user asked for one, is updated last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from unified_state.archive.archive import Archive
from unified_state.archive.session_work import (
    WorkingSession,
    earlier_notes,
    earlier_work_item,
    open_notes,
    pending_actions,
    working_sessions,
)
from unified_state.archive.sessions import is_running
from unified_state.errors import DamagedFileError, NotAtGateError, StorageError, UnifiedStateError
from unified_state.ledger.item_table import items_in_file, items_to_load
from unified_state.ledger.rules.short_item import key_decisions, sections_of, short_form
from unified_state.lib.json_text import parse_json
from unified_state.lib.record import disk_value
from unified_state.lib.times import current_time, to_text
from unified_state.lib.tokens import count_tokens, upper_bound
from unified_state.model.item import Entry, LedgerItem
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
from unified_state.project.place import EXCLUDED, NAME, Place, wants_rules_file
from unified_state.project.workspace.workspace import UNAVAILABLE, Workspace, items_for_all
from unified_state.state_file.state_file import (
    CHARACTERS_PER_TOKEN,
    StateContent,
    budget_status,
    encode_state,
    has_entries,
    state_file_of,
)

if TYPE_CHECKING:
    from unified_state.ledger.find_sources import Source
    from unified_state.ledger.record_item import Author

T = TypeVar("T")
Counter = Callable[[Sequence[str]], list[int]]

_ALL = -1
_FRAME = 12  # tokens of the numbers about its size


def record(workspace: Workspace, action: Callable[[Archive, int], T]) -> T:
    """Return action(archive, now), and update the state file.

    A failure to write the state file is reported, not raised, because the ledger already has the change.
    """
    done: list[T] = []

    def use(archive: Archive) -> T:
        now = current_time()
        check_version(workspace.place)
        if os.path.lexists(workspace.place.state_path) and not archive.row("SELECT 1 FROM item LIMIT 1"):
            show_state(workspace, archive, now)  # a new archive continues the numbers of an older state file
        try:
            done.append(action(archive, now))
        except NotAtGateError:
            show_state(workspace, archive, now)  # a refused lift has recorded a proposal
            raise
        show_state(workspace, archive, now)
        return done[-1]

    try:
        return workspace.use(use)
    except UNAVAILABLE as error:
        if not done:
            raise
        workspace.report(f"recorded, but {error}")
        return done[-1]


def add_item(
    workspace: Workspace,
    kind: str,
    body: dict[str, Any],
    *,
    supersedes: str | None = None,
    source: Source | None = None,
) -> Entry:
    """Record an item, which may supersede another one, and return its entry.

    `source` is the archived passage that states it. While the archive cannot be used, an item that supersedes none
    waits for it. Its id is its UUID until then.
    """
    from unified_state.ledger.record_item import record_item

    author = workspace.author()
    if source is not None:
        author = author.replace(origin=source.origin, source_uuid=source.uuid, quote=source.quote)

    def action(archive: Archive, now: int) -> LedgerItem:
        return record_item(archive, kind, body, author, now=now, supersedes=supersedes)

    try:
        return short_form(record(workspace, action))
    except UNAVAILABLE as error:
        if supersedes is not None:
            raise
        return short_form(_let_wait(workspace, kind, body, author, error))


def _let_wait(
    workspace: Workspace, kind: str, body: dict[str, Any], author: Author, error: UnifiedStateError
) -> LedgerItem:
    """Keep a new item for the archive, and return it. If it cannot be kept anywhere, raise the archive's own error."""
    from unified_state.ledger.record_item import checked_body, unnamed_item
    from unified_state.project.workspace.waiting_events import keep_waiting

    now = current_time()
    body = checked_body(kind, body, workspace.mask)
    item = unnamed_item(kind, body, author, now)
    told = author.replace(uuid=item.uuid).as_dict()
    path = keep_waiting(workspace.place, {"at": now, "item": kind, "body": body, "author": told})
    if path is None:
        raise error
    why = "; ".join(filter(None, error.args))  # without the hint about what waited before
    workspace.report(f"{why}; it is kept in {path}, and joins the archive once that can be used")
    if "scope" in body:
        workspace.report("it is enforced once the archive can be used")
    return item.replace(alias=item.uuid)


def show_state(workspace: Workspace, archive: Archive, now: int) -> None:
    """Update the state file after a change of the ledger. A failure is reported."""
    try:
        refresh_state(archive, workspace, now, count_tokens)
    except StorageError as error:
        workspace.report(f"recorded, but {error}")


def check_version(place: Place) -> None:
    """Raise NewerVersionError if a newer version wrote the state file, because this version could not update it."""
    try:
        state_file_of(place).load()
    except (DamagedFileError, StorageError):
        return  # the next write sets the file aside, or reports that it is read-only


def refresh_state(
    archive: Archive,
    workspace: Workspace,
    now: int,
    count_tokens: Counter | None = None,
    *,
    is_anew: bool = False,
) -> State:
    """Update the state file from the ledger, and return the state.

    The save time and the git state stay in a file that is ours, unless it is written anew. Nothing of any other file
    stays: what the archive does not know of it is proposed. Without `count_tokens` (in hooks) no item is paged out.
    """
    place = workspace.place

    def change(content: StateContent) -> State:
        if content.set_aside:
            workspace.report(f"the state file {content.trouble}; it was set aside as {content.set_aside}")
        if content.json and not (content.is_ours and has_entries(archive, content.json)):
            from unified_state.state_file.adopt import adopt  # hardly any file has something unknown

            adopt(archive, content, workspace.masker, now)
        present = content.json if content.json and content.is_ours and not is_anew else {}
        state = _within_budget(archive, workspace, now, present, count_tokens)
        as_before = state.replace(updated_at=present.get("updatedAt"))
        return as_before if disk_value(as_before) == content.json else state

    if not os.path.lexists(place.state_path):
        from unified_state.project.git_exclude import exclude_from_git

        shared = NAME if workspace.settings.share_state_file else None
        exclude_from_git(place, [name for name in EXCLUDED if name != shared])
    state = state_file_of(place, workspace.seconds).update(change)
    if wants_rules_file(place):
        _refresh_rules_file(archive, workspace, now)
    return state


def propose_file(archive: Archive, workspace: Workspace, now: int) -> None:
    """Let all of the state file wait for the user that this archive did not write and does not know. The file stays.

    Raises DamagedFileError, NewerVersionError or StorageError.
    """
    from unified_state.state_file.adopt import adopt

    content = state_file_of(workspace.place).load()
    if not content.is_ours:
        adopt(archive, content, workspace.masker, now)


def _refresh_rules_file(archive: Archive, workspace: Workspace, now: int) -> None:
    from unified_state.restore.rules_file import write_rules_file

    try:
        write_rules_file(archive, workspace.place, workspace.settings, now)
    except UnifiedStateError as error:  # the ledger already has everything
        workspace.report(str(error))


def _within_budget(
    archive: Archive,
    workspace: Workspace,
    now: int,
    present: dict[str, Any],
    count_tokens: Counter | None,
) -> State:
    """Return the state that the file holds. Its tokens are not counted while a proved bound says that they fit."""
    items, settings = items_in_file(archive), workspace.settings
    rest = _state(archive, workspace, now, present)
    rest = rest.replace(summaries=rest.summaries.replace(key_decisions=key_decisions(items)))
    state = rest.replace(**sections_of(items))
    text = encode_state(disk_value(state)).decode()
    size = round(len(text) / CHARACTERS_PER_TOKEN)
    if count_tokens is not None and upper_bound(text) > settings.budget_max:
        size = count_tokens([text])[0] + _FRAME
    status = budget_status(size, settings.budget_target, settings.budget_max)
    metrics = rest.token_metrics.replace(estimated_tokens=size, budget_status=status)
    if size <= settings.budget_max:
        return state.replace(token_metrics=metrics)
    from unified_state.state_file.page_out import page_out

    return page_out(archive, rest.replace(token_metrics=metrics), items, settings, count_tokens, now)


def whole_state(archive: Archive, workspace: Workspace, now: int, shown: State) -> State:
    """Return the state without a budget, and behind it what holds for all projects. `shown` is the one in the file."""
    items = items_to_load(archive)
    state = _state(archive, workspace, now, disk_value(shown), is_whole=True)
    return state.replace(
        **sections_of([*items, *items_for_all(workspace)]),
        updated_at=shown.updated_at,
        summaries=state.summaries.replace(key_decisions=key_decisions(items)),
        token_metrics=shown.token_metrics,
    )


def _state(
    archive: Archive, workspace: Workspace, now: int, present: dict[str, Any], *, is_whole: bool = False
) -> State:
    """Return the state without items; `is_whole` adds the notes of earlier sessions. `present` is our file's."""
    at, trigger, git = _saved(archive, workspace.place, present, now)
    since = now - workspace.settings.session_hours * 3_600_000
    worktree = workspace.place.repository.worktree
    alive = [one for one in working_sessions(archive, worktree, since, now) if is_running(one.pid)]
    newest = alive[0] if alive else None
    highlights, actions = _notes(archive, newest.number if newest else None)
    if is_whole:
        numbers = [one.number for one in alive]
        highlights = (*earlier_notes(archive, worktree, "highlight", numbers), *highlights)
        actions += earlier_notes(archive, worktree, "action", numbers)
    work_item = _work_item(newest) if newest else None
    flow = Workflow.from_disk(present.get("workflow", {}))
    if newest is not None:
        phase = (work_item.phase if work_item else None) or flow.current_phase
        flow = flow.replace(current_phase=phase, tool_executions=newest.tool_calls)
    metrics = TokenMetrics.from_disk(present.get("tokenMetrics", {}))
    return State(
        version=STATE_VERSION,
        timestamp=at,
        trigger=trigger,
        repository=workspace.place.id,
        updated_at=to_text(now),
        git=git,
        work_item=work_item or WorkItem.from_disk(earlier_work_item(archive, worktree) or {}),
        workflow=flow,
        summaries=Summaries(context_highlights=highlights, pending_actions=actions),
        token_metrics=TokenMetrics(last_truncation=metrics.last_truncation),
        sessions={one.session_id: _session_record(archive, one) for one in alive},
    )


def _notes(archive: Archive, session: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the highlights and the pending actions of a session and of no session."""
    return open_notes(archive, session, "highlight", _ALL), pending_actions(archive, session, _ALL)


def _saved(archive: Archive, place: Place, present: dict[str, Any], now: int) -> tuple[str, Any, GitState]:
    """Return time, trigger and git state of the last save. They come from the file if this archive never saved it."""
    saved = archive.row("SELECT at, trigger, git FROM saved WHERE state_path = ?", place.state_path)
    if saved is None:
        at, trigger = present.get("timestamp", to_text(now)), present.get("trigger", "checkpoint")
        return at, trigger, GitState.from_disk(present.get("git", {}))
    at, trigger, git = saved
    return at, trigger, GitState.from_disk(parse_json(git))


def _session_record(archive: Archive, session: WorkingSession) -> SessionRecord:
    highlights, actions = _notes(archive, session.number)
    return SessionRecord(
        updated_at=to_text(session.seen_at),
        work_item=_work_item(session),
        highlights=highlights,
        pending_actions=actions,
        branch=session.work.get("branch"),
        commit=session.work.get("commit"),
    )


def _work_item(session: WorkingSession) -> WorkItem | None:
    fields = session.work.get("workItem")
    return None if fields is None else WorkItem.from_disk(fields)

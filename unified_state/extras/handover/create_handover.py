"""Make a hand-over: a history file with the items that hold, the turns that they come from, the end of the session, and
in its first line the text of a restore, which names what is not committed.

The file holds no content of the worktree. All of it is masked once more, by the rules of today.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import newest_session, session_id_of, session_number
from unified_state.archive.steps import last_turns, steps_of_turn
from unified_state.capture.capture_transcript import Capture
from unified_state.errors import StorageError
from unified_state.extras.handover.about import HandoverHeader, is_handover
from unified_state.extras.handover.page_for_people import page_for_people
from unified_state.hosts.transcripts.rules.hosts import title_of_host
from unified_state.ledger.explain_item import place_of
from unified_state.ledger.item_table import ACTIVE, PROPOSED, stated_items
from unified_state.lib.files import write_atomically
from unified_state.lib.record import disk_value
from unified_state.lib.times import to_text
from unified_state.model.history_records import HistoryRecord, StoredLink
from unified_state.model.hook_event import Moment
from unified_state.model.item import LedgerItem
from unified_state.model.step import THINKING, TOOL_CALL, TOOL_RESULT
from unified_state.project.find_repository import read_head
from unified_state.project.workspace.workspace import Workspace
from unified_state.restore.preview import preview_restore
from unified_state.upkeep.exchange.import_trust import masked
from unified_state.upkeep.history.archive_rows import as_stored, read_links, read_sessions, read_steps
from unified_state.upkeep.history.history_file import write_history

HUMAN = "human"
_LAST_TURNS = 3
_MOST_TURNS, _MOST_CHARACTERS = 200, 60_000  # turns, and characters of the calls and results of one
_NOT_TOLD = (THINKING,)


def create_handover(workspace: Workspace, path: str, audience: str | None, now: int) -> int:
    """Write a hand-over of this worktree's work, of the session that asks or else of the newest one. Return the number
    of its records. Raises StorageError, also for an existing file that is no hand-over.
    """
    _check_target(path)
    repository = workspace.place.repository
    commit, branch = read_head(repository)
    masker = workspace.masker

    def action(archive: Archive) -> tuple[str | None, list[HistoryRecord]]:
        Capture(archive, masker, Moment(now)).catch_up()  # with the turn that is running
        return _records(archive, workspace.session_id, now)

    session, records = workspace.use(action)
    about = HandoverHeader(
        at=to_text(now),
        brief=masker.text(preview_restore(workspace.replace(session_id=session), now).text),
        audience=audience,
        session=session,
        host=title_of_host(session) if session else None,
        commit=commit,
        branch=masker.id(branch),
    )
    records = [masked(record, masker) for record in records]
    if audience == HUMAN:
        page = page_for_people(os.path.basename(repository.worktree), about, records)
        _write_page(path, page)
        return len(records)
    return write_history(path, workspace.place.id or "", records, disk_value(about))


def _check_target(path: str) -> None:
    """Raise StorageError for a file that is not to be replaced."""
    if os.path.isfile(path) and os.path.getsize(path) and not is_handover(path):
        message = f"{path} is no hand-over, and is not replaced"
        raise StorageError(message, "name another file, or remove this one first")


def _write_page(path: str, page: str) -> None:
    if os.path.exists(path) and not os.path.isfile(path):
        message = f"{path} cannot be written: it is no file"  # a pipe or a device, which would be replaced
        raise StorageError(message, "name a file in a folder of yours, on a disk with room")
    write_atomically(os.path.realpath(path), page.encode("utf-8", "replace"))


def _records(archive: Archive, session_id: str | None, now: int) -> tuple[str | None, list[HistoryRecord]]:
    """Return the id of the session that is handed over, and the records of the hand-over."""
    session = session_number(archive, session_id) if session_id else None
    session = newest_session(archive, now) if session is None else session
    items = stated_items(archive, [ACTIVE, PROPOSED])
    turns = dict.fromkeys(reversed(last_turns(archive, session, _LAST_TURNS)) if session is not None else ())
    sources: set[int] = set()
    for item in reversed(items):
        turn, step = place_of(archive, item)
        if turn is not None and len(turns) < _MOST_TURNS:
            turns[turn] = None
            sources |= set() if step is None else {step}
    steps = read_steps(archive, [number for turn in sorted(turns) for number in _chosen(archive, turn, sources)])
    told = {step.session_id for step in steps.values()}
    sessions = [one for one in read_sessions(archive) if one.session_id in told]
    records: list[HistoryRecord] = [*sessions, *steps.values(), *as_stored(archive, items), *_links(archive, items)]
    return session_id_of(archive, session), records


def _chosen(archive: Archive, turn: int, sources: set[int]) -> Iterator[int]:
    """Yield the steps of a turn that are handed over: what was said, what items quote, and calls with their results as
    long as there is room.
    """
    left = _MOST_CHARACTERS
    for number, step in steps_of_turn(archive, turn):
        if step.kind in _NOT_TOLD:
            continue
        if step.kind in (TOOL_CALL, TOOL_RESULT) and number not in sources:
            left -= len(step.text)
            if left < 0:
                continue
        yield number


def _links(archive: Archive, items: Iterable[LedgerItem]) -> Iterator[StoredLink]:
    told = {item.uuid for item in items}
    return (link for link in read_links(archive) if told.issuperset((link.from_uuid, link.to_uuid)))

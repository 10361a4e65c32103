"""A state file that this archive did not write: what of it waits, told once, and decided on as a whole."""

from __future__ import annotations

import os

from unified_state.archive.archive import Archive
from unified_state.errors import UnifiedStateError, UsageError
from unified_state.ledger.decide_proposal import accept, reject
from unified_state.ledger.inbox import Proposal, read_inbox
from unified_state.ledger.rules.short_item import short_form
from unified_state.ledger.waiting_notes import TOLD_OF_FILE, WaitingNote, is_from_file, waiting_notes
from unified_state.lib.record import Record
from unified_state.lib.times import to_text
from unified_state.model.item import Entry
from unified_state.project.place import Place
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.record_state import propose_file, record
from unified_state.state_file.writer.save_state import existing_state_files

_MOST_AT_START = 1 << 18  # bytes of a file that a session's start reads


class Inbox(Record):
    """All that waits for the user: items, and notes of a state file."""

    items: list[Proposal]
    notes: list[WaitingNote]

    def __len__(self) -> int:
        return len(self.items) + len(self.notes)


def read_all(archive: Archive, workspace: Workspace, now: int, *, of_file: bool = False) -> Inbox:
    """Return what waits, the oldest first, or only what a state file holds. The file is looked at before."""
    if os.path.lexists(workspace.place.state_path):
        try:
            propose_file(archive, workspace, now)
        except UnifiedStateError as error:
            workspace.report(str(error))
    items = [one for one in read_inbox(archive) if is_from_file(one.item) or not of_file]
    return Inbox(items, waiting_notes(archive))


def tell_of_file(archive: Archive, workspace: Workspace, now: int) -> str:
    """Return the line about what waits of the state file, once in the life of an archive, or "" if nothing does."""
    place = workspace.place
    name = file_name(place)
    if os.path.exists(place.state_path) and os.path.getsize(place.state_path) > _MOST_AT_START:
        what, do = "the entries", "wait"
    else:
        # Whoever writes the file next reports what is wrong with it.
        found = read_all(archive, workspace.replace(report=lambda _problem: None), now, of_file=True)
        if not found:
            return ""
        what, do = _counted(found), "waits" if len(found) == 1 else "wait"
    with archive.transaction(durable=False):
        archive.set_meta(TOLD_OF_FILE, to_text(now))
    return (
        f"{what} of {name}, which was not written here, {do} for your decision: `unified-state inbox` lists them, "
        f"`unified-state inbox accept --all {name}` takes them over"
    )


def _counted(found: Inbox) -> str:
    return "1 entry" if len(found) == 1 else f"{len(found):,} entries"


def file_name(place: Place) -> str:
    """Return the path of a place's state file as the user sees it in the worktree."""
    return os.path.relpath(place.state_path, place.repository.worktree)


def decide_all(
    workspace: Workspace, path: str, *, accepted: bool, why: str = ""
) -> tuple[list[Entry], list[WaitingNote]]:
    """Accept or reject all that waits, or with a path all that came from this state file, and return it. Raises
    UsageError for any other file.
    """
    if path and os.path.realpath(path) not in map(os.path.realpath, existing_state_files(workspace)):
        message = f"{path} is no state file of this project"
        raise UsageError(message, "`unified-state import` reads files from elsewhere, and proposes what they hold")
    author = workspace.author()

    def action(archive: Archive, now: int) -> tuple[list[Entry], list[WaitingNote]]:
        found = read_all(archive, workspace, now, of_file=bool(path))
        refs = [one.item.alias for one in found.items]
        if not accepted:
            items = reject(archive, refs, author, now, notes=found.notes, why=why)
            return [short_form(item) for item in items], found.notes
        what = f"takes over {_counted(found)} of {path}" if path else f"accepts {_counted(found)}"
        deed = what if path or found.notes else ""
        items = accept(archive, refs, author, now, notes=found.notes, deed=deed)
        return [short_form(item) for item in items], found.notes

    return record(workspace, action)

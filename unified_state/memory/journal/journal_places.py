"""Where journals lie, and whether one waits to be merged: every use of an archive asks that first.

With `tier = "json"` a project's journal lies in its folder and is its history. Otherwise a journal holds what could not
go into the archive for a while, until it is merged back: in the same folder, or where that cannot be written beside the
state file.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.memory.journal.journal import EVENTS, HISTORY
from unified_state.memory.journal.scratch_database import remove_scratch, remove_tree
from unified_state.memory.repository.place import beside_state_file, journal_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.repository.place import Place

FORMER = "store.json"  # is there where the files are that were kept before there was a journal
DAMAGED = ".damaged-"  # in the name of a folder that was merged as far as it could be read
MERGED = ".merged-"  # in the name of a folder that is in the archive and about to go
_PROBE = b"\0" * 8192  # what a disk that is full does not take


def waiting_journals(place: Place, *, is_tier: bool) -> list[str]:
    """The folders with something to merge, or what is left of it. With `is_tier` the place's journal is its history."""
    usual = journal_folder(place)
    found = [usual] if _waits(usual, is_history=is_tier) else []
    if os.path.isdir(beside_state_file(place)):
        beside = _folder_beside(place)
        found += [beside] if beside not in (None, usual) and _waits(beside, is_history=False) else []
    return found


def remove_journals(place: Place) -> None:
    """Remove every journal of a place for good, with what was replayed from it. Raises OSError."""
    beside = _folder_beside(place) if os.path.isdir(beside_state_file(place)) else None
    for folder in filter(None, (journal_folder(place), beside)):
        remove_scratch(folder)
        remove_tree(os.path.dirname(folder))


def writable_journal(place: Place) -> str:
    """The folder where a journal can be written now; the usual one where none can."""
    usual = journal_folder(place)
    return usual if _takes(usual) else _folder_beside(place) or usual


def merged_folders(folder: str) -> list[str]:
    """What is left of a folder's histories that are in the archive by now."""
    parent, name = os.path.split(folder)
    return [os.path.join(parent, one) for one in _names(parent) if one.startswith(f"{name}{MERGED}")]


def _waits(folder: str, *, is_history: bool) -> bool:
    names = _names(folder)
    waiting = {FORMER, EVENTS} if is_history else {FORMER, EVENTS, HISTORY}
    return not waiting.isdisjoint(names) or bool(merged_folders(folder))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _folder_beside(place: Place) -> str | None:
    """The folder beside the state file. Its name has a part that only this user can compute: a history that came with
    somebody's repository must not be taken for ours. None where that part cannot be had.
    """
    from unified_state.memory.secrets.masker import Masker

    try:
        tag = Masker(place.key_folder).tag(f"history of {place.repository.worktree}")
    except StorageError:
        return None
    return os.path.join(beside_state_file(place), f"json-{tag}", os.path.basename(journal_folder(place)))


def _takes(folder: str) -> bool:
    """Whether something can be written there: permissions do not tell of a disk that is full."""
    probe = os.path.join(folder, f"probe-{os.getpid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        try:
            with open(probe, "wb") as file:
                file.write(_PROBE)
        finally:
            if os.path.exists(probe):
                os.unlink(probe)
    except OSError:
        return False
    return True

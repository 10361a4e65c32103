"""The folders of journals, and whether one waits to be merged.

With `tier = "json"` the journal in a project's folder is its history. Otherwise a journal holds the records that the
archive could not store, until they are merged. It is in the same folder, or beside the state file if that folder is
read-only.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.lib.files import temporary_name
from unified_state.memory.journal.journal import EVENTS, HISTORY
from unified_state.memory.journal.scratch_database import remove_scratch, remove_tree
from unified_state.memory.repository.place import beside_state_file, journal_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.repository.place import Place

DAMAGED = ".damaged-"  # in the name of a merged folder that has unreadable lines
MERGED = ".merged-"  # in the name of a merged folder that is about to be removed
_PROBE = b"\0" * 8192  # more than fits on a full disk


def waiting_journals(place: Place, *, is_tier: bool) -> list[str]:
    """Return the folders that have records to merge or files to remove. With `is_tier` the usual journal is the
    history.
    """
    usual = journal_folder(place)
    found = [usual] if _waits(usual, is_history=is_tier) else []
    if os.path.isdir(beside_state_file(place)):
        beside = _folder_beside(place)
        found += [beside] if beside not in (None, usual) and _waits(beside, is_history=False) else []
    return found


def remove_journals(place: Place) -> None:
    """Delete every journal of a place and its replay. Raises OSError."""
    beside = _folder_beside(place) if os.path.isdir(beside_state_file(place)) else None
    for folder in filter(None, (journal_folder(place), beside)):
        remove_scratch(folder)
        remove_tree(os.path.dirname(folder))


def writable_journal(place: Place) -> str:
    """Return a folder in which a journal can be written now; the usual one if there is none."""
    usual = journal_folder(place)
    return usual if _takes(usual) else _folder_beside(place) or usual


def merged_folders(folder: str) -> list[str]:
    """Return the renamed folders of a journal that is merged and not removed yet."""
    parent, name = os.path.split(folder)
    return [os.path.join(parent, one) for one in _names(parent) if one.startswith(f"{name}{MERGED}")]


def _waits(folder: str, *, is_history: bool) -> bool:
    names = _names(folder)
    waiting = {EVENTS} if is_history else {EVENTS, HISTORY}
    return not waiting.isdisjoint(names) or bool(merged_folders(folder))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _folder_beside(place: Place) -> str | None:
    """Return the folder beside the state file; None if the masking key cannot be read.

    Its name has a keyed HMAC tag, so that a journal in a cloned repository is not mistaken for the user's own.
    """
    from unified_state.memory.secrets.masker import Masker

    try:
        tag = Masker(place.key_folder).tag(f"history of {place.repository.worktree}")
    except StorageError:
        return None
    return os.path.join(beside_state_file(place), f"json-{tag}", os.path.basename(journal_folder(place)))


def _takes(folder: str) -> bool:
    """Return whether a test file can be written there. Permissions alone do not show a full disk."""
    probe = temporary_name(os.path.join(folder, "probe"))
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

"""Checks of whose a folder is: the repository and its files of ours, and the memory that folders outside git shared."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from unified_state.lib.json_text import parse_object
from unified_state.lib.read_files import open_regular
from unified_state.memory.archive.archive import Archive
from unified_state.memory.repository.find_repository import FOREIGN, ID_FILE, examine, find_repository
from unified_state.memory.repository.place import Place
from unified_state.memory.workspace.link import has_id, parent_memory
from unified_state.model.check import Check, bad

_HEAD = 1 << 16  # bytes of a transcript; its first entries have the folder
_MOST_NAMED = 5


def check_owners(place: Place, data_dir: str) -> Iterator[Check]:
    """Yield a check for what of this folder is not used, because it is another user's or a parent's."""
    repository = place.repository
    around = find_repository(repository.worktree)
    if repository.git_dir is None and around.git_dir is not None:
        told = f"git does not use {around.worktree}, which belongs to another user, so it counts as no repository"
        hint = f"if you trust it: git config --global --add safe.directory {shlex.quote(around.worktree)}"
        yield bad("repository", told, hint)
    if examine(repository.identity_folder)[1] == FOREIGN:
        path = os.path.join(repository.identity_folder, ID_FILE)
        yield bad("repository", f"{path} is not used: it is not yours alone", "remove it; a new one is made")
    parent = parent_memory(place, data_dir)
    if parent is not None and not has_id(place):
        told = f"it has no memory yet; that of {parent.worktree} was shared with the folders below it until now"
        yield bad("folder", told, _choice(repository.worktree, parent.id))


def check_shared(place: Place, archive: Archive) -> Iterator[Check]:
    """Yield a check for each folder below this one, outside git, in which sessions began whose memory is here."""
    if place.repository.git_dir is not None:
        return
    sharing = [folder for folder in _folders_below(place, archive) if not _is_decided(folder)]
    for folder in sharing[:_MOST_NAMED]:
        told = f"until now {folder} shared this memory; it begins its own with the first record"
        yield bad("folder", told, _choice(folder, place.id or ""))


def _choice(folder: str, shared: str) -> str:
    go = f"cd {shlex.quote(folder)} && unified-state"
    return f"`{go} link {shared}` goes on sharing it, `{go} install` gives the folder a memory of its own"


def _is_decided(folder: str) -> bool:
    return find_repository(folder).git_dir is not None or os.path.lexists(os.path.join(folder, ".claude", ID_FILE))


def _folders_below(place: Place, archive: Archive) -> list[str]:
    """Return the folders below in which sessions of the archive began, as far as their transcripts still exist."""
    paths = archive.column("SELECT path FROM transcript WHERE agent IS NULL")
    one_of_each = {os.path.dirname(path): path for path in paths}  # the client has a folder for each
    top = os.path.join(place.repository.worktree, "")
    found = {os.path.realpath(_begun_in(path)) for path in one_of_each.values()}
    return sorted(folder for folder in found if folder.startswith(top) and os.path.isdir(folder))


def _begun_in(transcript: str) -> str:
    try:
        with open_regular(transcript) as file:
            lines = file.read(_HEAD).split(b"\n")
    except OSError:
        return ""
    entries = filter(None, map(parse_object, lines))
    return next((entry["cwd"] for entry in entries if isinstance(entry.get("cwd"), str)), "")

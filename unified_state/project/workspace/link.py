"""Linking: a clone joins the archive of another clone of the same repository on the user's command.

It is never automatic, because two folders with the same remote may be meant to stay apart.
"""

from __future__ import annotations

import os

from unified_state.archive.archive import OWNER, Archive
from unified_state.errors import NotFoundError, UsageError
from unified_state.lib.record import Record
from unified_state.project.find_repository import Identity
from unified_state.project.identity import (
    Checkout,
    all_checkouts,
    checkouts_of,
    present,
    remember,
    remote_of,
    write_identity,
)
from unified_state.project.place import Place


class Candidate(Record):
    """An archive that a repository can be linked to."""

    id: str
    worktree: str
    archive_bytes: int


def candidates(place: Place, data_dir: str) -> list[Candidate]:
    """Return the other archives that may belong to this repository: those of this folder first, under another name or
    id too, then those of the same remote, or of a checkout with the same first commit.
    """
    others = [other for other in all_checkouts(data_dir) if other.id != place.id]
    if not others:
        return []
    now = present(place.repository).replace(remote=remote_of(place.repository) or "")
    own = next((one for one in checkouts_of(place.folder) if one.place == now.place), now)
    others.sort(key=lambda other: os.path.isdir(other.worktree))  # an existing folder wins
    related = {other.id: other for other in others if _is_related(own, other)}
    found = sorted(related.values(), key=lambda other: (other.place != own.place, other.id))
    archives = ((other, os.path.join(data_dir, "repositories", other.id, "archive.db")) for other in found)
    return [Candidate(one.id, one.worktree, os.path.getsize(path)) for one, path in archives if os.path.exists(path)]


def _is_related(own: Checkout, other: Checkout) -> bool:
    marks = ((own.place, other.place), (own.first_commit, other.first_commit), (own.remote, other.remote))
    return own.is_same_folder(other) or any(one and one == another for one, another in marks)


def unjoined_line(place: Place, data_dir: str) -> str | None:
    """Return the line that offers another archive to the first sessions of a new one; None without a candidate."""
    found = candidates(place, data_dir)
    if not found:
        return None
    other = found[0]
    size = f"{other.archive_bytes / 1e6:.1f} MB"
    more = f"; `unified-state config link` lists {len(found) - 1} more" if len(found) > 1 else ""
    return f"`unified-state config link {other.id}` joins the archive of {other.worktree} ({size}) if it belongs{more}"


def link(place: Place, data_dir: str, wanted: str) -> Candidate:
    """Make this repository use the archive with that id. Its own archive is kept, unused.

    Raises UsageError for a malformed id and NotFoundError if the archive does not exist.
    """
    chosen = place.folder if wanted == place.id else os.path.join(data_dir, "repositories", wanted)
    if not wanted.isalnum():
        message = f"{wanted[:60]!r} is not the id of an archive"
        raise UsageError(message, "`unified-state config link` lists the ids")
    if not os.path.exists(os.path.join(chosen, "archive.db")):
        message = f"there is no archive {wanted}"
        raise NotFoundError(message, "`unified-state config link` lists the candidates")
    with Archive(os.path.join(chosen, "archive.db")) as archive:
        archive.set_meta(OWNER, wanted)
    folder = place.repository.identity_folder
    write_identity(folder, Identity(id=wanted, place=folder))
    remember(place.repository, chosen)
    return Candidate(wanted, place.repository.worktree, os.path.getsize(os.path.join(chosen, "archive.db")))

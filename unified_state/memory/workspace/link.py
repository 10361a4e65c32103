"""Linking: a clone joins the archive of another clone of the same repository on the user's command.

It is never automatic, because two folders with the same remote may be meant to stay apart.
"""

from __future__ import annotations

import os

from unified_state.errors import NotFoundError, UsageError
from unified_state.lib.files import write_note
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.schema.archive_owner import set_owner
from unified_state.memory.repository.checkouts import Checkout, all_checkouts, folder_marks, read_checkout
from unified_state.memory.repository.find_repository import ID_FILE, Identity, read_identity
from unified_state.memory.repository.identity import write_identity
from unified_state.memory.repository.place import Place
from unified_state.memory.repository.rejoin import former_archive, own_folder, remember

_ABOUT = "about.json"


class Candidate(Record):
    """An archive that a repository can be linked to."""

    id: str
    worktree: str
    archive_bytes: int


def note_about(place: Place) -> None:
    """Write beside the archive the worktree and remote of its repository, by which other clones find it."""
    about = dump_json({"worktree": place.repository.worktree, "remote": remote_of(place)})
    path = os.path.join(place.folder, _ABOUT)
    if _read(path) != about:
        write_note(path, about.encode("utf-8", "surrogateescape"))
    remember(place, anew=True)


def candidates(place: Place, data_dir: str) -> list[Candidate]:
    """Return the other archives that may belong to this repository: those of the same folder under another name or id,
    of the same remote, or of a checkout with the same first commit.
    """
    folder = os.path.join(data_dir, "repositories")
    own = read_checkout(data_dir, place.repository.identity_folder)
    others = sorted(all_checkouts(data_dir), key=lambda other: os.path.isdir(other.worktree))  # an existing folder wins
    related = {other.id: other for other in others if _is_related(place, own, other)}
    remote, found = remote_of(place), []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        archive = os.path.join(folder, name, "archive.db")
        if name == place.id or not os.path.exists(archive):
            continue
        worktree, of_remote = _about(os.path.join(folder, name, _ABOUT))
        if name in related:
            found.append(Candidate(name, related[name].worktree, os.path.getsize(archive)))
        elif worktree and (worktree == place.repository.worktree or (remote and remote == of_remote)):
            found.append(Candidate(name, worktree, os.path.getsize(archive)))
    return found


def _is_related(place: Place, own: Checkout | None, other: Checkout) -> bool:
    folder = place.repository.identity_folder
    marks = folder_marks(own_folder(folder))
    if own is not None and own.former == other.id:
        return True
    is_same_folder = other.place == folder or (other.is_known_folder and (other.device, other.inode) == marks)
    return is_same_folder or (own is not None and bool(own.first_commit) and own.first_commit == other.first_commit)


def _about(path: str) -> tuple[str, str | None]:
    """Return worktree and remote of an archive; the worktree is "" if they are unknown."""
    try:
        about = parse_json(_read(path))
        return str(about["worktree"]), about["remote"]
    except (ValueError, KeyError, TypeError):
        return "", None


def unjoined_line(place: Place, data_dir: str) -> str | None:
    """Return the line that offers another archive to the first sessions of a new one; None without a candidate."""
    found = candidates(place, data_dir)
    if not found:
        return None
    former = former_archive(place)
    other = next((other for other in found if other.id == former), found[0])
    size = f"{other.archive_bytes / 1e6:.1f} MB"
    more = f"; `unified-state link` lists {len(found) - 1} more" if len(found) > 1 else ""
    return f"`unified-state link {other.id}` joins the archive of {other.worktree} ({size}) if it belongs here{more}"


def link(place: Place, data_dir: str, wanted: str) -> Candidate:
    """Make this repository use the archive with that id. Its own archive is kept, unused.

    Raises UsageError for a malformed id and NotFoundError if the archive does not exist.
    """
    chosen = place.folder if wanted == place.id else os.path.join(data_dir, "repositories", wanted)
    if not wanted.isalnum():
        message = f"{wanted[:60]!r} is not the id of an archive"
        raise UsageError(message, "`unified-state link` lists the ids")
    if not os.path.exists(os.path.join(chosen, "archive.db")):
        message = f"there is no archive {wanted}"
        raise NotFoundError(message, "`unified-state link` lists the candidates")
    with Archive(os.path.join(chosen, "archive.db")) as archive:
        set_owner(archive, wanted)
    folder = place.repository.identity_folder
    write_identity(folder, Identity(id=wanted, place=folder))
    remember(place.replace(id=wanted, folder=chosen, key_folder=data_dir))
    return Candidate(wanted, place.repository.worktree, os.path.getsize(os.path.join(chosen, "archive.db")))


def remote_of(place: Place) -> str | None:
    """Return the URL of `origin` in the repository's configuration, without user name and password."""
    if place.repository.common_dir is None:
        return None
    section = ""
    for line in _read(os.path.join(place.repository.common_dir, "config")).splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped
        elif section == '[remote "origin"]' and stripped.split("=")[0].strip() == "url":
            url = stripped.split("=", 1)[1].strip()
            return _without_user(url)
    return None


def _without_user(url: str) -> str:
    """Return the URL without `user:password@`."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _read(path: str) -> str:
    try:
        return read_regular(path, SMALL_FILE).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def parent_memory(place: Place, data_dir: str) -> Candidate | None:
    """Return the memory of the nearest parent folder outside git that has one, or None. It counts here only if the user
    links it.
    """
    if place.repository.git_dir is not None:
        return None
    folder = os.path.dirname(place.repository.worktree)
    while (identity := read_identity(os.path.join(folder, ".claude"))) is None:
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    archive = os.path.join(data_dir, "repositories", identity.id, "archive.db")
    return Candidate(identity.id, folder, os.path.getsize(archive)) if os.path.exists(archive) else None


def has_id(place: Place) -> bool:
    """Return whether the repository already has an identity."""
    return os.path.exists(os.path.join(place.repository.identity_folder, ID_FILE))

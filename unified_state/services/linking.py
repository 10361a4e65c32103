"""Linking: a fresh clone joins the archive of another clone of the same repository, when its user says so.

Never silently: two folders with the same remote may well be meant to stay apart.
"""

from __future__ import annotations

import os

from unified_state.errors import NotFoundError, UsageError
from unified_state.interpreter import dump_json, parse_json
from unified_state.records.record import Record
from unified_state.services.place import identity_folder
from unified_state.storage.atomic_file import write_note
from unified_state.storage.identity import ID_FILE, Identity, write_identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.place import Place

_ABOUT = "about.json"


class Candidate(Record):
    """An archive that a repository could be linked to."""

    id: str
    worktree: str
    archive_bytes: int


def note_about(place: Place) -> None:
    """Keep beside the archive where its repository lies and what its remote is, so that another clone can be offered
    it.
    """
    about = dump_json({"worktree": place.repository.worktree, "remote": remote_of(place)})
    path = os.path.join(place.folder, _ABOUT)
    if _read(path) != about:
        write_note(path, about.encode("utf-8", "surrogateescape"))


def candidates(place: Place, data_dir: str) -> list[Candidate]:
    """The other archives of the same remote, or of the same folder under an id that was lost."""
    folder = os.path.join(data_dir, "repositories")
    remote, found = remote_of(place), []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        archive = os.path.join(folder, name, "archive.db")
        if name == place.id or not os.path.exists(archive):
            continue
        try:
            about = parse_json(_read(os.path.join(folder, name, _ABOUT)))
            worktree, of_remote = str(about["worktree"]), about["remote"]
        except (ValueError, KeyError, TypeError):
            continue  # an archive that does not tell whose it is cannot be offered
        if worktree == place.repository.worktree or (remote and remote == of_remote):
            found.append(Candidate(name, worktree, os.path.getsize(archive)))
    return found


def link(place: Place, data_dir: str, wanted: str) -> Candidate:
    """Make this repository use the archive with that id. Its own, if it has one, stays where it is, unused."""
    chosen = os.path.join(data_dir, "repositories", wanted)
    if not wanted.isalnum():
        message = f"{wanted[:60]!r} is no id of an archive"
        raise UsageError(message, "`unified-state link` lists the ids")
    if not os.path.exists(os.path.join(chosen, "archive.db")):
        message = f"there is no archive {wanted}"
        raise NotFoundError(message, "`unified-state link` lists those that could be meant")
    folder = identity_folder(place.repository)
    write_identity(folder, Identity(id=wanted, place=folder))
    return Candidate(wanted, place.repository.worktree, os.path.getsize(os.path.join(chosen, "archive.db")))


def remote_of(place: Place) -> str | None:
    """The URL of `origin` in the repository's own configuration, without a user name or password in it."""
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
    """The URL without `user:password@` before its host."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def has_id(place: Place) -> bool:
    """Whether the repository has an identity of its own already."""
    return os.path.exists(os.path.join(identity_folder(place.repository), ID_FILE))

"""The repository that a folder belongs to, and its recorded id, read from files without running git.

The id is in a file of its own, which `project.identity` creates and repairs.
"""

from __future__ import annotations

import os

from unified_state.lib.json_text import parse_json
from unified_state.lib.read_files import LARGE_FILE, NotOursError, is_own, read_own, read_regular
from unified_state.lib.record import Record

ID_FILE = "unified-state-id"
ABOUT = "about.json"  # beside the archive: the checkouts that use it
MISSING, DAMAGED, UNREADABLE, FOREIGN = "missing", "damaged", "unreadable", "not yours alone"

_OUTSIDE_GIT = ".claude"  # the folder of the id there
_SMALL = 1 << 16
_ID_DIGITS = (40, 64)  # of SHA-1 and SHA-256


class Repository(Record):
    """A worktree and the repository it belongs to.

    `worktree` is the folder that holds `.git` (outside git: the folder itself). `common_dir` is the git dir that all
    worktrees of the repository share. `git_dir` is the worktree's own git dir. Both are None outside git. `owner` is
    the user whose repository it is, if git accepts it although that is another one.
    """

    worktree: str
    git_dir: str | None = None
    common_dir: str | None = None
    owner: int | None = None

    @property
    def identity_folder(self) -> str:
        """The folder of the file with the archive's id."""
        return self.common_dir or os.path.join(self.worktree, _OUTSIDE_GIT)

    @property
    def other_owner(self) -> int | None:
        """The user to whom the files belong by which git judges the owner, if that is another one."""
        if self.git_dir is None:
            return None
        try:
            owners = [os.lstat(path).st_uid for path in (self.worktree, f"{self.worktree}/.git", self.git_dir)]
        except OSError:
            return None  # it was removed just now
        return next((owner for owner in owners if not is_own(owner)), None)


def find_repository(folder: str) -> Repository:
    """Return the repository of a folder, whoever owns it (`locate` asks git whether it is used). A folder outside git
    stands for itself: what lies in its parents may be a stranger's.
    """
    folder = os.path.realpath(folder)
    worktree = folder
    while not os.path.lexists(os.path.join(worktree, ".git")):
        if worktree == os.path.dirname(worktree):
            return Repository(worktree=folder)
        worktree = os.path.dirname(worktree)
    git_dir = _git_dir_of(worktree)
    if git_dir is None:
        return Repository(worktree=folder)
    return Repository(worktree=worktree, git_dir=git_dir, common_dir=_common_dir_of(git_dir))


def read_head(repository: Repository) -> tuple[str | None, str | None]:
    """Return commit and branch of the worktree's HEAD, read from plain files.

    Each is None where the files do not have it, for example the branch of a detached HEAD.
    """
    if repository.git_dir is None or repository.common_dir is None:
        return None, None
    head = _line(os.path.join(repository.git_dir, "HEAD")).strip()
    if not head.startswith("ref:"):
        return head if is_object_id(head) else None, None
    ref = head[len("ref:") :].strip()
    commit = _line(os.path.join(repository.git_dir, ref)) or _line(os.path.join(repository.common_dir, ref))
    if not commit:
        packed = _line(os.path.join(repository.common_dir, "packed-refs"), LARGE_FILE).splitlines()
        commit = next((line for line in packed if line.endswith(f" {ref}")), "").split(" ")[0]
    branch = os.fsencode(ref).decode("utf-8", "replace").removeprefix("refs/heads/")
    commit = commit.strip()
    return commit if is_object_id(commit) else None, None if branch == ".invalid" else branch


def is_object_id(text: str) -> bool:
    """Return whether a text is a whole id of git's."""
    return len(text) in _ID_DIGITS and not text.strip("0123456789abcdef")


def _git_dir_of(worktree: str) -> str | None:
    """Return the git dir: `.git` itself, or the target of the file `.git` of a worktree or submodule."""
    dot_git = os.path.join(worktree, ".git")
    if os.path.isdir(dot_git):
        return dot_git
    kind, colon, pointer = _line(dot_git).partition(": ")
    target = os.path.join(worktree, pointer)
    return os.path.realpath(target) if (kind, colon) == ("gitdir", ": ") and os.path.isdir(target) else None


def _common_dir_of(git_dir: str) -> str:
    """Return the git dir that all worktrees share: the folder that the file `commondir` names, else the git dir
    itself.
    """
    pointer = _line(os.path.join(git_dir, "commondir"))
    target = os.path.realpath(os.path.join(git_dir, pointer)) if pointer else git_dir
    return target if os.path.isdir(target) else git_dir


def _line(path: str, limit: int = _SMALL) -> str:
    """Return the content of a file of git's, without the end of its last line; "" if it cannot be read."""
    try:
        return os.fsdecode(read_regular(path, limit)).rstrip("\r\n")
    except (OSError, ValueError):
        return ""


def home_of(data_dir: str, identity: str) -> str:
    """Return the folder of an archive and its files."""
    return os.path.join(data_dir, "repositories", identity)


class Identity(Record):
    """The id of a repository and the folder that it was recorded for."""

    id: str
    place: str


def examine(folder: str) -> tuple[Identity | None, str]:
    """Return the identity recorded in a folder and "", or None and the reason why there is none."""
    path = os.path.join(folder, ID_FILE)
    try:
        # A repository that git uses is trusted with its owner.
        owners = () if os.path.basename(folder) == _OUTSIDE_GIT else (os.stat(folder).st_uid,)
        content = parse_json(read_own(path, _SMALL, *owners).decode("utf-8", "replace"))
        return Identity(id=_checked(content["id"]), place=str(content["place"])), ""
    except FileNotFoundError:
        return None, DAMAGED if os.path.islink(path) else MISSING
    except NotADirectoryError:
        return None, MISSING
    except NotOursError:
        return None, FOREIGN
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, DAMAGED
    except OSError:
        return None, UNREADABLE if os.path.isfile(path) else DAMAGED


def read_identity(folder: str) -> Identity | None:
    """Return the identity recorded in a folder, or None."""
    return examine(folder)[0]


def recorded_identity(folder: str, data_dir: str) -> Identity | None:
    """Return the identity recorded in a folder, if it was recorded for this folder and its archive is there."""
    found = read_identity(folder)
    is_sound = found is not None and found.place == folder and os.path.isdir(home_of(data_dir, found.id))
    return found if is_sound else None


def _checked(text: object) -> str:
    """Return an id if it is safe as a folder name. Raises ValueError, so that an id never points to another folder."""
    if not isinstance(text, str) or not text.isalnum() or len(text) > 64:  # noqa: PLR2004
        raise ValueError(text)
    return text

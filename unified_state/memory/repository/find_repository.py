"""Which repository a folder belongs to, found by looking at files: no git process, no git binary needed."""

from __future__ import annotations

import os

from unified_state.lib.record import Record

_SMALL = 1 << 16
_REFLOG = 1 << 17  # bytes of the reflog that are read: some hundred movements of HEAD


class Repository(Record):
    """A worktree and the repository it belongs to.

    `worktree` is the folder that holds `.git` (outside git: the folder itself), `common_dir` where all worktrees of the
    repository meet, `git_dir` the worktree's own part of it; both are None outside git.
    """

    worktree: str
    git_dir: str | None = None
    common_dir: str | None = None

    @property
    def identity_folder(self) -> str:
        """Where the file lies that says which archive is this repository's."""
        return self.common_dir or os.path.join(self.worktree, ".claude")


def find_repository(folder: str, mark: str) -> Repository:
    """The repository of a folder. Outside git it is the nearest folder above that holds `mark`, or the folder
    itself.
    """
    folder = os.path.realpath(folder)
    worktree = _ancestor_with(folder, ".git")
    git_dir = git_dir_of(worktree) if worktree else None
    if worktree is None or git_dir is None:
        return Repository(worktree=_ancestor_with(folder, mark) or folder)
    return Repository(worktree=worktree, git_dir=git_dir, common_dir=common_dir_of(git_dir))


def read_head(repository: Repository) -> tuple[str | None, str | None]:
    """Commit and branch of the worktree's HEAD, as far as plain files tell them; None where they do not (or there is
    none).
    """
    if repository.git_dir is None or repository.common_dir is None:
        return None, None
    head = _read(os.path.join(repository.git_dir, "HEAD")).strip()
    if not head.startswith("ref: "):
        return head or None, None
    ref = head[len("ref: ") :]
    branch = ref.removeprefix("refs/heads/")
    commit = _read(os.path.join(repository.git_dir, ref)) or _read(os.path.join(repository.common_dir, ref))
    return commit.strip() or _packed(repository.common_dir, ref), None if branch == ".invalid" else branch


def visited_commits(repository: Repository) -> list[str]:
    """The commits that HEAD was at, as its reflog tells, the newest last; those of long ago are left out."""
    if repository.git_dir is None:
        return []
    from unified_state.lib.files.regular_files import open_regular

    try:
        with open_regular(os.path.join(repository.git_dir, "logs", "HEAD")) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _REFLOG))
            lines = file.read().decode("ascii", "replace").split("\n")
    except OSError:
        return []
    return [words[1] for line in lines if len(words := line.split(" ", 2)) > 2]  # noqa: PLR2004  # old, new, who


def _ancestor_with(folder: str, name: str) -> str | None:
    while not os.path.lexists(os.path.join(folder, name)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def git_dir_of(worktree: str) -> str | None:
    """The git dir: `.git` itself, or where the file `.git` of a worktree or submodule points to."""
    dot_git = os.path.join(worktree, ".git")
    if os.path.isdir(dot_git):
        return dot_git
    pointer = _pointer(dot_git)
    if not pointer.startswith("gitdir: "):
        return None
    target = os.path.join(worktree, pointer[len("gitdir: ") :])
    return os.path.realpath(target) if os.path.isdir(target) else None


def common_dir_of(git_dir: str) -> str:
    """Where all worktrees of a repository meet: the git dir itself, or where its file `commondir` points to."""
    pointer = _pointer(os.path.join(git_dir, "commondir"))
    return os.path.realpath(os.path.join(git_dir, pointer)) if pointer else git_dir


def _packed(common_dir: str, ref: str) -> str | None:
    from unified_state.lib.files.regular_files import open_regular

    try:
        with open_regular(os.path.join(common_dir, "packed-refs")) as lines:
            wanted = f" {ref}\n".encode("utf-8", "replace")
            for line in lines:
                if line.endswith(wanted):
                    return line.split(b" ", 1)[0].decode("ascii", "replace")
    except OSError:
        return None
    return None


def _pointer(path: str) -> str:
    """The path that a file holds, as git reads it; empty where there is none."""
    if not os.path.lexists(path):
        return ""  # as in every repository with one worktree; the prompt's hook then need not load what reads files
    from unified_state.lib.files.regular_files import read_regular

    try:
        return os.fsdecode(read_regular(path, _SMALL)).rstrip("\r\n")
    except (OSError, ValueError):
        return ""


def _read(path: str) -> str:
    from unified_state.lib.files.regular_files import read_regular

    try:
        return read_regular(path, _SMALL).decode("utf-8", "replace")
    except OSError:
        return ""

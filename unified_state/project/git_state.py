"""The git state of a worktree, as git reports it. Nothing is written to the repository, and every wait has a deadline.

All git commands run at once, so the result takes as long as the slowest of them, and a failed one does not hold back
the others. Filters are switched off, so a file under one counts as changed if git looks into it and finds other bytes.
Git is asked for NUL-terminated output, which it never quotes. Bytes that are not UTF-8 become U+FFFD.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from unified_state.lib.processes import Excerpt, Processes, Program
from unified_state.lib.text import cut
from unified_state.model.session_state import GitState
from unified_state.project.find_repository import find_repository, read_head
from unified_state.project.git_command import GitNotCalledError, StartPrograms, escaped, prepare_git, what_failed

DEADLINE = 5.0

# In a submodule `git status` would run the filters that its configuration names, so none is entered.
_STATUS = (
    "status", "--porcelain", "--branch", "-z", "--untracked-files=normal", "--no-ahead-behind",
    "--ignore-submodules=dirty",
)  # fmt: skip
_LOG = (
    "log",
    "-5",
    "-z",
    "--format=%H %h %s",
    "--encoding=UTF-8",
    "--no-decorate",
    "--no-show-signature",
    "--no-color",
)
_STAGED = ("diff", "--cached", "--shortstat", "--no-ext-diff", "--no-color")
_SMALL_OUTPUT = 1 << 16
LISTED = 20
PATH_LIMIT, SUBJECT_LIMIT = 200, 100
_CONFLICTS = {b"DD", b"AU", b"UD", b"UA", b"DU", b"AA", b"UU"}
_UNBORN, _DETACHED = "No commits yet on ", "HEAD (no branch)"

# A rebase stops with CHERRY_PICK_HEAD or MERGE_HEAD set for the commit it is at, so it comes first.
_OPERATIONS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


def read_git(
    worktree: str,
    environment: Mapping[str, str],
    deadline: float = DEADLINE,
    start: StartPrograms = Processes,
) -> GitState:
    """Return the git state of a folder. Raises nothing: a part that git cannot report is missing, and `error` has the
    reason.

    Git processes that take longer than `deadline` seconds are killed. `start` is the function that runs programs.
    """
    changes, commits, staged = StatusReader(), Excerpt(_SMALL_OUTPUT), Excerpt(_SMALL_OUTPUT)
    questions = ((_STATUS, changes), (_LOG, commits), (_STAGED, staged))
    end = time.monotonic() + deadline
    try:
        git = prepare_git(worktree, environment, start=start)
        programs = [Program(f"git {one[0]}", git.arguments(*one), reader) for one, reader in questions]
        start(programs, git.environment).finish(end)
    except GitNotCalledError as error:
        return GitState(error=str(error))
    except (OSError, ValueError) as error:  # ValueError: not a valid path on any file system
        return GitState(error=f"git could not be started: {error}")
    status, log, _ = programs
    repository = find_repository(worktree)
    commit, branch = (None, None) if status.exit_code and log.exit_code else read_head(repository)
    newest, recent = _read_log(commits.content)
    commit = newest or commit
    asked = programs if commit else [status]  # before the first commit there is no log
    return GitState(
        branch=changes.branch if status.exit_code == 0 else branch,
        commit=commit,
        status=changes.status,
        recent_commits=recent,
        modified_files=changes.modified_files,
        # Git refuses in a bare repository, where `git diff` would report all files as deleted.
        staged_changes="" if status.exit_code else staged.content.decode(errors="replace").strip(),
        changed_count=changes.changed_count,
        operation=_operation(repository.git_dir) if repository.git_dir else None,
        error=next(filter(None, (what_failed(one, deadline) for one in asked)), None),
    )


def _read_log(log: bytes) -> tuple[str | None, tuple[str, ...]]:
    """Return the id of the newest commit, and of each the abbreviated id and the subject."""
    commits = [entry.split(" ", 2) for entry in log.decode(errors="replace").split("\0") if entry]
    lines = tuple(f"{short} {cut(escaped(subject), SUBJECT_LIMIT)}" for _, short, subject in commits)
    return commits[0][0] if commits else None, lines


class StatusReader:
    """Parses `git status --porcelain --branch -z` piece by piece, as it arrives, so memory is bounded.

    `branch` is None on a detached HEAD. `changed_count` counts every changed and untracked path, while at most LISTED
    of them are stored: conflicts first, then in git's own order.
    """

    def __init__(self) -> None:
        self.branch: str | None = None
        self.changed_count = 0
        self._conflicts: list[bytes] = []
        self._changes: list[bytes] = []
        self._renamed = b""
        self._unfinished = b""

    def feed(self, piece: bytes) -> None:
        """Parse the next piece of the output."""
        *entries, self._unfinished = (self._unfinished + piece).split(b"\0")
        for entry in entries:
            if entry.startswith(b"## ") and not self._renamed:
                head = entry[3:].decode(errors="replace").removeprefix(_UNBORN)
                self.branch = None if head == _DETACHED else head.split("...")[0]
            elif (b"R" in entry[:2] or b"C" in entry[:2]) and not self._renamed:
                self._renamed = entry + b"\0"  # the former name follows as an entry of its own
            else:
                self.changed_count += 1
                kept = self._conflicts if entry[:2] in _CONFLICTS and not self._renamed else self._changes
                if len(kept) < LISTED:
                    kept.append(self._renamed + entry)
                self._renamed = b""

    @property
    def status(self) -> str:
        """The stored entries as `git status --short` shows them, and the number of further ones."""
        lines = [f"{code} {' -> '.join(map(escaped, reversed(names)))}" for code, *names in self._listed()]
        if self.changed_count > LISTED:
            lines.append(f"… and {self.changed_count - LISTED:,} more")
        return "\n".join(lines)

    @property
    def modified_files(self) -> tuple[str, ...]:
        """The paths of the stored entries, relative to the top of the worktree; for a renamed file the new path."""
        return tuple(path for _, path, *_ in self._listed())

    def _listed(self) -> list[list[str]]:
        """Return two-letter code, path and, for a renamed file, former path of each stored entry. The end of a long
        path says more than its start.
        """
        entries = [entry.decode(errors="replace") for entry in (self._conflicts + self._changes)[:LISTED]]
        return [[entry[:2], *map(_end_of, entry[3:].split("\0"))] for entry in entries]


def _end_of(path: str) -> str:
    return path if len(path) <= PATH_LIMIT else "…" + path[1 - PATH_LIMIT :]


def _operation(git_dir: str) -> str | None:
    found = (operation for mark, operation in _OPERATIONS if os.path.exists(os.path.join(git_dir, mark)))
    return next(found, None)

"""The git state of a worktree, as git reports it. Nothing is written to the repository, and every wait has a deadline.

All git commands run at once, so the result takes as long as the slowest of them, and a failed one does not hold back
the others. Filters are switched off, so a file under one counts as changed if git looks into it and finds other bytes.
Git is asked for NUL-terminated output, which it never quotes. Bytes that are not UTF-8 become U+FFFD.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

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
_SMALL_OUTPUT, _LARGE_OUTPUT = 1 << 16, 1 << 24
LISTED = 20
PATH_LIMIT, SUBJECT_LIMIT = 200, 100
_CONFLICTS = {"DD", "AU", "UD", "UA", "DU", "AA", "UU"}
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
    statuses, commits, staged = Excerpt(_LARGE_OUTPUT), Excerpt(_SMALL_OUTPUT), Excerpt(_SMALL_OUTPUT)
    questions = ((_STATUS, statuses), (_LOG, commits), (_STAGED, staged))
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
    told_branch, changes = read_status(statuses.content)
    commit = newest or commit
    asked = programs if commit else [status]  # before the first commit there is no log
    return GitState(
        branch=told_branch if status.exit_code == 0 else branch,
        commit=commit,
        **listed(changes),
        recent_commits=recent,
        # Git refuses in a bare repository, where `git diff` would report all files as deleted.
        staged_changes="" if status.exit_code else staged.content.decode(errors="replace").strip(),
        operation=_operation(repository.git_dir) if repository.git_dir else None,
        error=next(filter(None, (what_failed(one, deadline) for one in asked)), None),
    )


def _read_log(log: bytes) -> tuple[str | None, tuple[str, ...]]:
    """Return the id of the newest commit, and of each the abbreviated id and the subject."""
    commits = [entry.split(" ", 2) for entry in log.decode(errors="replace").split("\0") if entry]
    lines = tuple(f"{short} {cut(escaped(subject), SUBJECT_LIMIT)}" for _, short, subject in commits)
    return commits[0][0] if commits else None, lines


def read_status(output: bytes) -> tuple[str | None, list[tuple[str, ...]]]:
    """Return what `git status --porcelain --branch -z` tells: the branch (None on a detached HEAD), and of each changed
    or untracked path its two-letter code, the path, and for a renamed file the former path. Conflicts come first.
    """
    branch, changes = None, list[tuple[str, ...]]()
    entries = iter(output.decode(errors="replace").split("\0")[:-1])  # the last one may have been cut
    for entry in entries:
        if entry.startswith("## "):
            head = entry[3:].removeprefix(_UNBORN)
            branch = None if head == _DETACHED else head.split("...")[0]
        elif "R" in entry[:2] or "C" in entry[:2]:
            changes += ((entry[:2], entry[3:], former) for former in [next(entries, None)] if former is not None)
        else:
            changes.append((entry[:2], entry[3:]))
    return branch, sorted(changes, key=lambda change: change[0] not in _CONFLICTS)


def listed(changes: list[tuple[str, ...]]) -> dict[str, Any]:
    """Return the fields of a state: the first changes as `git status --short` shows them, their paths, relative to the
    top of the worktree, and the number of all. The end of a long path says more than its start.
    """
    shown = [(code, *map(_end_of, paths)) for code, *paths in changes[:LISTED]]
    lines = [f"{code} {' -> '.join(map(escaped, reversed(paths)))}" for code, *paths in shown]
    if len(changes) > LISTED:
        lines.append(f"… and {len(changes) - LISTED:,} more")
    paths = tuple(path for _, path, *_ in shown)
    return {"status": "\n".join(lines), "modified_files": paths, "changed_count": len(changes)}


def _end_of(path: str) -> str:
    return path if len(path) <= PATH_LIMIT else "…" + path[1 - PATH_LIMIT :]


def _operation(git_dir: str) -> str | None:
    found = (operation for mark, operation in _OPERATIONS if os.path.exists(os.path.join(git_dir, mark)))
    return next(found, None)

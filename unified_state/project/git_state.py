"""The git state of a worktree, as git reports it. Nothing is written to the repository, and every wait has a deadline.

All git commands run at once, so the result takes as long as the slowest of them, and a failed one does not hold back
the others. Filters are switched off, so a file under one counts as changed if git looks into it and finds other bytes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

from unified_state.lib.processes import Excerpt, Processes, Program, Reader
from unified_state.model.session_state import GitState
from unified_state.project.find_repository import find_repository, read_head
from unified_state.project.git_command import GitCommand, GitNotCalledError, StartPrograms, prepare_git
from unified_state.project.rules.git_output import StatusReader, recent_commits, what_git_says

DEADLINE = 5.0

# In a submodule `git status` would run the filters that its configuration names, so none is entered.
_STATUS = (
    "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-ahead-behind",
    "--ignore-submodules=dirty",
)  # fmt: skip
_LOG = ("log", "-5", "-z", "--format=%h %s", "--encoding=UTF-8", "--no-decorate", "--no-show-signature", "--no-color")
_STAGED = ("diff", "--cached", "--shortstat", "--no-ext-diff", "--no-color")
_SMALL_OUTPUT = 1 << 16
_NOT_STARTED = (OSError, ValueError)  # ValueError: not a valid path on any file system

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
        programs = [_program(git, question, reader) for question, reader in questions]
        start(programs, git.environment).finish(end)
    except GitNotCalledError as error:
        return GitState(error=str(error))
    except _NOT_STARTED as error:
        return GitState(error=f"git could not be started: {error}")
    status, log, _ = programs
    repository = find_repository(worktree)
    has_head = status.exit_code == 0 or log.exit_code  # else it took too long, or the index is damaged
    commit, branch = (changes.commit, changes.branch) if has_head else read_head(repository)
    return GitState(
        branch=branch,
        commit=commit,
        status=changes.status,
        recent_commits=recent_commits(commits.content),
        modified_files=changes.modified_files,
        # Git refuses in a bare repository, where `git diff` would report all files as deleted.
        staged_changes="" if status.exit_code else staged.content.decode(errors="replace").strip(),
        changed_count=changes.changed_count,
        operation=_operation(repository.git_dir) if repository.git_dir else None,
        # Before the first commit there is no log.
        error=_error([one for one in programs if commit or one is not log], deadline),
    )


def _error(programs: list[Program], deadline: float) -> str | None:
    slow = [program.name for program in programs if program.exit_code is None]
    if slow:
        return f"{', '.join(slow)} took longer than {deadline:g} s"
    for program in programs:
        if program.exit_code:
            return what_git_says(program.complaint.content) or f"{program.name} ended with {program.exit_code}"
    return None


def run_git(
    worktree: str,
    question: Sequence[str],
    environment: Mapping[str, str],
    end: float,
    *,
    limit: int = _SMALL_OUTPUT,
    start: StartPrograms = Processes,
) -> str | None:
    """Return the output of one git command that compares no file with what is committed, up to `limit` bytes; None if
    it fails, git is missing, or it runs past `end` of the monotonic clock.
    """
    answer = Excerpt(limit)
    try:
        git = prepare_git(worktree, environment, converts=False, start=start)
        asked = _program(git, question, answer)
        start([asked], git.environment).finish(end)
    except (GitNotCalledError, *_NOT_STARTED):
        return None
    return answer.content.decode("utf-8", "surrogateescape") if asked.exit_code == 0 else None


def _program(git: GitCommand, question: Sequence[str], reader: Reader) -> Program:
    return Program(f"git {question[0]}", git.arguments(*question), reader)


def _operation(git_dir: str) -> str | None:
    found = (operation for mark, operation in _OPERATIONS if os.path.exists(os.path.join(git_dir, mark)))
    return next(found, None)

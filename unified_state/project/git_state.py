"""The git state of a worktree, as git reports it. Nothing is written to the repository, and every wait has a deadline.

All git commands run at once, so the result takes as long as the slowest of them, and a failed one does not hold back
the others. Filters are switched off. If there are any, one more command finds the changed files that a filter covers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from unified_state.lib.processes import Excerpt, Processes, Program, Reader
from unified_state.model.session_state import GitState
from unified_state.project.git_command import GitCommand, GitNotCalledError, StartPrograms, prepare_git
from unified_state.project.rules.git_output import (
    FilterReader,
    StatusReader,
    head_place,
    recent_commits,
    staged_changes,
    what_git_says,
)

DEADLINE = 5.0

# In a submodule `git status` would run the filters that its configuration names, so none is entered.
_STATUS = (
    "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-ahead-behind",
    "--ignore-submodules=dirty",
)  # fmt: skip
_LOG = ("log", "-5", "-z", "--format=%h %s", "--encoding=UTF-8", "--no-decorate", "--no-show-signature", "--no-color")
_STAGED = ("diff", "--cached", "--shortstat", "--no-ext-diff", "--no-color")
_HEAD = ("rev-parse", "--absolute-git-dir", "HEAD", "--symbolic-full-name", "HEAD")
_ATTRIBUTES = ("check-attr", "-z", "--stdin", "filter")
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
    return start_git(worktree, environment, deadline, start)()


def start_git(
    worktree: str,
    environment: Mapping[str, str],
    deadline: float = DEADLINE,
    start: StartPrograms = Processes,
) -> Callable[[], GitState]:
    """Start the git commands and return the function that waits for their result, so that the caller can work in
    between.
    """
    try:
        git = prepare_git(worktree, environment, start=start)
    except GitNotCalledError as error:
        not_called = GitState(error=str(error))
        return lambda: not_called
    end = time.monotonic() + deadline
    questions = _Questions(git)
    try:
        processes = start(questions.programs, git.environment)
    except _NOT_STARTED as error:
        failed = GitState(error=f"git could not be started: {error}")
        return lambda: failed

    def finish() -> GitState:
        try:
            processes.finish(end)
            questions.ask_for_filtered(start, end)
        except _NOT_STARTED as error:
            return GitState(error=f"git could not be started: {error}")
        return questions.answer(deadline)

    return finish


def run_git(
    worktree: str,
    question: Sequence[str],
    environment: Mapping[str, str],
    end: float,
    *,
    encoding: str = "ascii",
    answer: Excerpt | None = None,
    converts: bool = True,
    start: StartPrograms = Processes,
) -> str | None:
    """Return the beginning of the output of one git command; None if it fails, git is missing, or it runs past `end`
    of the monotonic clock. `answer` reads the output, else the first 64 KiB are read. `converts` as for `prepare_git`.
    """
    answer = answer or Excerpt(_SMALL_OUTPUT)
    try:
        git = prepare_git(worktree, environment, converts=converts, start=start)
        asked = Program(f"git {question[0]}", git.arguments(*question), answer)
        start([asked], git.environment).finish(end)
    except (GitNotCalledError, *_NOT_STARTED):
        return None
    return (
        answer.content.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
        if asked.exit_code == 0
        else None
    )


class _Questions:
    """The git commands for a worktree, the slowest first, and their output."""

    def __init__(self, git: GitCommand) -> None:
        self._git = git
        self._changes = StatusReader(filters=bool(git.filters))
        self._commits, self._summary, self._place = (Excerpt(_SMALL_OUTPUT) for _ in range(3))
        asked = ((_STATUS, self._changes), (_LOG, self._commits), (_STAGED, self._summary), (_HEAD, self._place))
        self.programs = [_program(git, question, reader) for question, reader in asked]

    def ask_for_filtered(self, start: StartPrograms, end: float) -> None:
        """Ask git which changed files a filter covers, if there are filters and changed files.

        This runs no filter, and git answers in milliseconds.
        """
        unsure = self._changes.unsure()
        if not unsure:
            return
        told = FilterReader({os.fsencode(name) for name in self._git.filters})
        question = _program(self._git, _ATTRIBUTES, told)
        with _unnamed_file() as file:
            file.write(b"\0".join([*unsure, b""]))
            file.seek(0)
            question.stdin = file.fileno()
            start([question], self._git.environment).finish(end)
        self._changes.leave_out(told.filtered)
        self.programs.append(question)

    def answer(self, deadline: float) -> GitState:
        """Return the state from the output of all commands. `deadline` is only for the text of a timeout."""
        changes = self._changes
        # Git refuses in a bare repository, where `git diff` would report all files as deleted.
        refused = bool(self.programs[0].exit_code)
        git_dir, commit, branch = head_place(self._place.content)
        return GitState(
            branch=changes.branch or branch,
            commit=changes.commit or commit,
            status=changes.status,
            recent_commits=recent_commits(self._commits.content),
            modified_files=changes.modified_files,
            filtered_files=tuple(changes.filtered),
            staged_changes="" if refused else staged_changes(self._summary.content),
            changed_count=changes.changed_count,
            filtered_count=changes.filtered_count,
            operation=_operation(git_dir) if git_dir else None,
            error=self._error(deadline),
        )

    def _error(self, deadline: float) -> str | None:
        status, log, staged, _, *attributes = self.programs
        slow = [program.name for program in self.programs if program.exit_code is None]
        if slow:
            return f"{', '.join(slow)} took longer than {deadline:g} s"
        unborn = self._changes.commit is None
        for program in (status, staged, *attributes) if unborn else (status, log, staged, *attributes):
            if program.exit_code:
                return what_git_says(program.complaint.content) or f"{program.name} ended with {program.exit_code}"
        return None


def _program(git: GitCommand, question: Sequence[str], reader: Reader) -> Program:
    return Program(f"git {question[0]}", git.arguments(*question), reader)


def _unnamed_file() -> IO[bytes]:
    """Return a temporary file without a name, which is deleted when it is closed."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("paths"), "w+b")
    from tempfile import TemporaryFile  # slow to load

    return TemporaryFile()


def _operation(git_dir: bytes) -> str | None:
    for mark, operation in _OPERATIONS:
        if os.path.exists(os.path.join(git_dir, os.fsencode(mark))):
            return operation
    return None

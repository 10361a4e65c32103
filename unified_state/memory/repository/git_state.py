"""Where a worktree stands, as git itself tells it. Nothing is written to the repository, and git is never waited for
longer than a deadline.

All questions are put at once, so the answer takes as long as the slowest of them, and what one cannot tell does not
keep back the others. Filters are switched off, so where there are any, git is asked once more: which of the files that
it calls changed are under one.
"""

from __future__ import annotations

import os
import time

from unified_state.lib.processes import Excerpt, Program, start_programs
from unified_state.memory.repository.git_command import GitNotCalledError, prepare_git
from unified_state.memory.repository.rules.git_output import (
    FilterReader,
    StatusReader,
    head_place,
    recent_commits,
    staged_changes,
    what_git_says,
)
from unified_state.model.session_state import GitState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO

    from unified_state.lib.processes import Processes, Reader
    from unified_state.memory.repository.git_command import GitCommand

    StartPrograms = Callable[[Sequence[Program], Mapping[str, str]], Processes]

DEADLINE = 5.0

_STATUS = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-ahead-behind")
_LOG = ("log", "-5", "-z", "--format=%h %s", "--encoding=UTF-8", "--no-decorate", "--no-show-signature", "--no-color")
_STAGED = ("diff", "--cached", "--shortstat", "--no-ext-diff", "--no-color")
_HEAD = ("rev-parse", "--absolute-git-dir", "HEAD", "--symbolic-full-name", "HEAD")
_ATTRIBUTES = ("check-attr", "-z", "--stdin", "filter")
_SMALL_OUTPUT = 1 << 16
_NOT_STARTED = (OSError, ValueError)  # ValueError: a path that no file system can have

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
    start: StartPrograms = start_programs,
) -> GitState:
    """The git state of a folder. Never an exception: what cannot be told is left out, and `error` says why.

    Git processes that take longer than `deadline` seconds are killed. `start` is how programs are run.
    """
    return start_git(worktree, environment, deadline, start)()


def start_git(
    worktree: str,
    environment: Mapping[str, str],
    deadline: float = DEADLINE,
    start: StartPrograms = start_programs,
) -> Callable[[], GitState]:
    """Sets git to work and gives the function that waits for the answer, so that other work can be done meanwhile."""
    try:
        git, may_descend = prepare_git(worktree, environment)
    except GitNotCalledError as error:
        not_called = GitState(error=str(error))
        return lambda: not_called
    end = time.monotonic() + deadline
    questions = _Questions(git, may_descend=may_descend)
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


def run_git(worktree: str, question: Sequence[str], environment: Mapping[str, str], end: float) -> str | None:
    """What git answers to one question; None where it fails, is missing, or has not ended at `end` of the monotonic
    clock.
    """
    answer = Excerpt(_SMALL_OUTPUT)
    try:
        git, _ = prepare_git(worktree, environment)
        asked = Program(f"git {question[0]}", git.arguments(*question), answer)
        start_programs([asked], git.environment).finish(end)
    except (GitNotCalledError, *_NOT_STARTED):
        return None
    return answer.content.decode("ascii", "replace") if asked.exit_code == 0 else None


class _Questions:
    """What git is asked about a worktree, the slowest question first, and what it has answered."""

    def __init__(self, git: GitCommand, *, may_descend: bool) -> None:
        self._git = git
        self._changes = StatusReader(filters=bool(git.filters))
        self._commits, self._summary, self._place = (Excerpt(_SMALL_OUTPUT) for _ in range(3))
        status = _STATUS if may_descend else (*_STATUS, "--ignore-submodules=dirty")
        asked = ((status, self._changes), (_LOG, self._commits), (_STAGED, self._summary), (_HEAD, self._place))
        self.programs = [_program(git, question, reader) for question, reader in asked]

    def ask_for_filtered(self, start: StartPrograms, end: float) -> None:
        """Ask which changed files are under a filter, where there are filters and changed files at all. This runs none,
        and the answer comes in milliseconds.
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
        """All that git has said; `deadline` is for the wording."""
        changes = self._changes
        refused = bool(self.programs[0].exit_code)  # in a bare repository, where `git diff` would see all files deleted
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
    """A file that nobody else sees, and that is gone when it is closed."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("paths"), "w+b")
    from tempfile import TemporaryFile  # slow to load

    return TemporaryFile()


def _operation(git_dir: bytes) -> str | None:
    for mark, operation in _OPERATIONS:
        if os.path.exists(os.path.join(git_dir, os.fsencode(mark))):
            return operation
    return None

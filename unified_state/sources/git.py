"""Where a worktree stands, as git itself tells it. Nothing is written to the repository, and git is never waited for
longer than a deadline.

All questions are put at once, so the answer takes as long as the slowest of them, and what one cannot tell does not
keep back the others.
"""

from __future__ import annotations

import os
import time

from unified_state.records.state import GitState
from unified_state.rules.git_status import StatusReader, head_place, recent_commits, staged_changes, what_git_says
from unified_state.sources.processes import Excerpt, Program, start_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from unified_state.sources.processes import Processes

    StartPrograms = Callable[[Sequence[Program], Mapping[str, str]], Processes]

DEADLINE = 5.0

# What git sets for its own hooks and aliases, and what would point us at another repository, index or set of objects:
# what `git rev-parse --local-env-vars` names, but GIT_CONFIG_COUNT, through which machines set safe.directory.
REPOSITORY_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # no refreshed index is written back, and no lock taken from the user's own git
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone fetches nothing
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# An empty core.fsmonitor turns it off in every version of git: a daemon that we started would outlive us.
_OPTIONS = ("--no-pager", "-c", "core.quotePath=off", "-c", "core.fsmonitor=")
_STATUS = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-ahead-behind")
_LOG = ("log", "-5", "-z", "--format=%h %s", "--encoding=UTF-8", "--no-decorate", "--no-show-signature", "--no-color")
_STAGED = ("diff", "--cached", "--shortstat", "--no-ext-diff", "--no-color")
_HEAD = ("rev-parse", "--absolute-git-dir", "HEAD", "--symbolic-full-name", "HEAD")
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
    git = _find_git(environment)
    if git is None:
        return lambda: GitState(error="there is no git on the PATH")
    end = time.monotonic() + deadline
    questions = _Questions(git, worktree)
    ours = {name: value for name, value in environment.items() if name not in REPOSITORY_VARIABLES} | _ENVIRONMENT
    try:
        processes = start(questions.programs, ours)
    except _NOT_STARTED as error:
        failed = GitState(error=f"git could not be started: {error}")
        return lambda: failed

    def finish() -> GitState:
        try:
            processes.finish(end)
        except _NOT_STARTED as error:
            return GitState(error=f"git could not be started: {error}")
        return questions.answer(deadline)

    return finish


def _find_git(environment: Mapping[str, str]) -> str | None:
    """The path of git. A relative entry of the PATH is passed over: it would run what lies in the user's repository."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


class _Questions:
    """What git is asked about a worktree, the slowest question first, and what it has answered."""

    def __init__(self, git: str, worktree: str) -> None:
        self._changes = StatusReader()
        self._commits, self._summary, self._place = (Excerpt(_SMALL_OUTPUT) for _ in range(3))
        asked = ((_STATUS, self._changes), (_LOG, self._commits), (_STAGED, self._summary), (_HEAD, self._place))
        self.programs = [
            Program(f"git {question[0]}", [git, "-C", worktree, *_OPTIONS, *question], reader)
            for question, reader in asked
        ]

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
            staged_changes="" if refused else staged_changes(self._summary.content),
            changed_count=changes.changed_count,
            operation=_operation(git_dir) if git_dir else None,
            error=self._error(deadline),
        )

    def _error(self, deadline: float) -> str | None:
        status, log, staged, _ = self.programs
        slow = [program.name for program in self.programs if program.exit_code is None]
        if slow:
            return f"{', '.join(slow)} took longer than {deadline:g} s"
        unborn = self._changes.commit is None
        for program in (status, staged) if unborn else (status, log, staged):
            if program.exit_code:
                return what_git_says(program.complaint.content) or f"{program.name} ended with {program.exit_code}"
        return None


def _operation(git_dir: bytes) -> str | None:
    for mark, operation in _OPERATIONS:
        if os.path.exists(os.path.join(git_dir, os.fsencode(mark))):
            return operation
    return None

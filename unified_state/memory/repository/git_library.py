"""The git port through GitPython, for the command line and the API. It gives the same answer as `read_git`.

GitPython is slow to load and runs git when it is imported, so no hook imports it. It is loaded for the first question,
with the path of git set, because it would otherwise search the whole PATH.
"""

from __future__ import annotations

import os
import sys
import time
from errno import ENOENT

from unified_state.memory.repository.git_command import REPOSITORY_VARIABLES, find_git
from unified_state.memory.repository.git_state import DEADLINE, read_git
from unified_state.settings import set_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unified_state.lib.processes import Program
    from unified_state.model.session_state import GitState

_CHOICE = "GIT_PYTHON_GIT_EXECUTABLE"


def read_git_with_gitpython(worktree: str, environment: Mapping[str, str], deadline: float = DEADLINE) -> GitState:
    """Return the git state of a folder, as `read_git` does.

    GitPython passes the whole environment of this process to git and cannot remove a variable. It cannot be imported if
    this process finds no git. In both cases, for example inside a git hook, plain processes are used.
    """
    try:
        path = find_git(environment, worktree)
    except ValueError:
        path = None
    if path is None or not REPOSITORY_VARIABLES.isdisjoint(environment) or not _is_loaded(path):
        return read_git(worktree, environment, deadline)
    return read_git(worktree, environment, deadline, start=_GitPythonProcesses)


def _is_loaded(git: str) -> bool:
    """Return whether GitPython could be loaded with this path of git."""
    before = set_variable(_CHOICE, git)
    try:
        import git as _  # noqa: F401
    except ImportError:
        return False
    finally:
        set_variable(_CHOICE, before)
    return True


class _GitPythonProcesses:
    """Programs that GitPython runs one after the other. The slowest, which is the first, runs last."""

    def __init__(self, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        self._programs, self._environment = programs, environment

    def finish(self, end: float) -> None:
        """Run each program to its end. A program that would run past `end` is killed, and the rest are not started."""
        from git import Git, GitCommandNotFound

        for program in reversed(self._programs):
            left = end - time.monotonic()
            if left <= 0:
                return
            try:
                code, output, complaint = Git().execute(
                    program.arguments,
                    env=self._environment,
                    istream=program.stdin,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    kill_after_timeout=None if sys.platform == "win32" else left,
                )
            except GitCommandNotFound as error:
                raise FileNotFoundError(ENOENT, os.strerror(ENOENT), program.arguments[0]) from error
            program.output.feed(output)
            program.complaint.feed(complaint.encode(errors="surrogateescape"))
            killed = code < 0 and time.monotonic() >= end
            program.exit_code = None if killed else code

"""Git through GitPython, wherever nobody waits: `save`, `blame` and the history.

GitPython is slow to load and runs git when it is imported, so no hook imports it. Its objects know neither SHA-256 nor
reftable, so it runs the same command lines as the hooks do, and git reads the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import ENOENT
from subprocess import Popen

from unified_state.lib.processes import Processes, Program
from unified_state.project.git_command import is_dropped
from unified_state.settings import environment, set_variable


class GitPythonProcesses(Processes):
    """Programs that GitPython starts, each in its own session, so that its children are killed with it."""

    def _start(self, program: Program, environment: Mapping[str, str]) -> Popen[bytes]:
        with _variables(program.arguments[0]):
            from git import Git, GitCommandNotFound

            try:
                handle = Git().execute(
                    program.arguments,
                    env=environment,
                    istream=program.stdin,
                    as_process=True,
                    start_new_session=True,
                )
            except GitCommandNotFound as error:
                raise FileNotFoundError(ENOENT, os.strerror(ENOENT), program.arguments[0]) from error
        process: Popen[bytes] = handle.proc  # type: ignore[assignment]  # it is None only behind the end
        handle.proc = None  # the handle would end the process when it goes
        return process


@contextmanager
def _variables(git: str) -> Iterator[None]:
    """Set what GitPython takes from this process alone: the path of git, for it would search the whole PATH, and no
    variable that selects another repository, as in a hook of git.
    """
    wanted = {
        **dict.fromkeys(filter(is_dropped, environment())),
        "GIT_PYTHON_GIT_EXECUTABLE": git,
        "GIT_PYTHON_REFRESH": "quiet",
    }
    before = {name: set_variable(name, value) for name, value in wanted.items()}
    try:
        yield
    finally:
        for name, value in before.items():
            set_variable(name, value)

"""The git command line: it runs no program that a repository brings along, writes nothing and contacts no server.

Every call of git uses this module. Git itself is taken from the absolute folders of the PATH, and not from those inside
the worktree. Wherever nobody waits (`save`, `blame`, the history), GitPython starts it. That is slow to load and runs
git when it is imported, so no hook imports it. Its objects know neither SHA-256 nor reftable, so it runs the same
command lines, and git reads the repository.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import ENOENT
from subprocess import Popen

from unified_state.lib.processes import Excerpt, Processes, Program
from unified_state.lib.record import Record
from unified_state.lib.shell.search_path import absolute_folders, find_program
from unified_state.lib.text import cut
from unified_state.project.find_repository import find_repository, is_object_id
from unified_state.settings import environment, set_variable

StartPrograms = Callable[[Sequence[Program], Mapping[str, str]], Processes]

# Of git's variables only those count by which machines find repositories and configure git. Git sets others for its own
# hooks and aliases, or they would select another repository, index, object store or program.
_KEPT = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
         "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")  # fmt: skip
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # git writes back no refreshed index, and takes no lock from the user's own git
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone fetches nothing
    "GIT_LITERAL_PATHSPECS": "0",  # `:/` is the top of the worktree
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# An empty core.fsmonitor turns it off in every version of git, because a daemon that we started would outlive us.
# safe.bareRepository: a folder of a clone can look like a bare repository, with a configuration by the clone's author.
_OPTIONS = ("--no-pager", "-c", "core.quotePath=off", "-c", "core.fsmonitor=", "-c", "safe.bareRepository=explicit")
_SECONDS = 5.0  # for the names of all filters
_MOST_BYTES = 1 << 20
_NO_NAME_FITS = 1  # exit code of `git config`
_NOT_STARTED = (OSError, ValueError)  # ValueError: not a valid path on any file system
_SMALL_OUTPUT, _MOST_CHARACTERS = 1 << 16, 300
_ESCAPES = {code: repr(chr(code))[1:-1] for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)}
_MOST_COMMITS, _MOST_HISTORY, _HISTORY_SECONDS = 200, 4 << 20, 1.0
# Replaced commits count as they were written.
_LATER = ("--no-replace-objects", "rev-list", "--ignore-missing", "--ancestry-path")


def is_dropped(name: str) -> bool:
    """Return whether git is called without a variable of the environment."""
    return name.startswith("GIT_") and not name.startswith(_KEPT)


class GitNotCalledError(Exception):
    """Git is missing, or a call would run a program that a repository brings along; the message has the reason."""


class GitCommand(Record):
    """Git for one worktree: how each command line begins, and its environment."""

    beginning: list[str]
    environment: dict[str, str]

    def arguments(self, *question: str) -> list[str]:
        """Return the command line of a git command."""
        return [*self.beginning, *question]


def find_git(environ: Mapping[str, str], folder: str) -> str | None:
    """Return the path of git; None if there is none, or only one inside the worktree of a folder.

    Raises ValueError for a folder that is not a valid path on any file system.
    """
    return find_program("git", environ, outside=find_repository(folder).worktree)


def prepare_git(
    worktree: str, environ: Mapping[str, str], *, converts: bool = True, start: StartPrograms = Processes
) -> GitCommand:
    """Return git for a worktree. Raises GitNotCalledError, and OSError where git cannot be started.

    Where git compares files with what is committed (`status`, `blame`), it converts them by filters. A filter is a
    program named in the configuration, and a repository unpacked from an archive brings a configuration written by a
    stranger. So git is asked for all filters first, which runs none, and they are switched off by name. A question
    about commits, refs and the index is answered without that: `converts=False`.
    """
    ours = {name: value for name, value in environ.items() if not is_dropped(name)} | _ENVIRONMENT
    path = find_git(environ, worktree)
    if path is None:
        message = "there is no git on the PATH"
        raise GitNotCalledError(message)
    git = GitCommand([path, "-C", worktree, *_OPTIONS], {**ours, "PATH": absolute_folders(environ)})
    for name in sorted(_read_filters(git, start)) if converts else ():
        if "=" in name:  # `-c` ends a name at the first =
            message = f"git was not called: the filter {name!r} cannot be switched off"
            raise GitNotCalledError(message)
        for setting in ("clean=", "smudge=", "process=", "required=false"):
            git.beginning.extend(("-c", f"filter.{name}.{setting}"))
    return git


def _read_filters(git: GitCommand, start: StartPrograms) -> set[str]:
    """Return the names of the filters. Those of submodules are not asked for, so no command may enter one."""
    names = Excerpt(_MOST_BYTES)
    config = Program("git config", git.arguments("config", "-z", "--name-only", "--get-regexp", r"^filter\."), names)
    start([config], git.environment).finish(time.monotonic() + _SECONDS)
    problem = "" if config.exit_code == _NO_NAME_FITS else what_failed(config, _SECONDS)
    if len(names.content) == _MOST_BYTES:
        problem = "git was not called: there are too many filters"
    if problem:
        raise GitNotCalledError(problem)
    # each `filter.NAME.KEY`; a key without a name is no filter
    found = (name.removeprefix("filter.").rpartition(".") for name in os.fsdecode(names.content).split("\0"))
    return {name for name, dot, _ in found if dot}


def run_git(
    worktree: str,
    question: Sequence[str],
    environ: Mapping[str, str],
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
        git = prepare_git(worktree, environ, converts=False)
        asked = Program("git", git.arguments(*question), answer)
        start([asked], git.environment).finish(end)
    except (GitNotCalledError, *_NOT_STARTED):
        return None
    return answer.content.decode("utf-8", "surrogateescape") if asked.exit_code == 0 else None


def later_commits(worktree: str, head: str, commits: Iterable[str]) -> set[str]:
    """Return those of the commits that have `head` in their history, or none if git cannot tell within a second. No
    commit that is missing is among them.
    """
    asked = [commit for commit in dict.fromkeys(commits) if commit != head and is_object_id(commit)][:_MOST_COMMITS]
    if not asked or not is_object_id(head):
        return set()
    question = (*_LATER, *asked, f"^{head}", "--")
    told = run_git(worktree, question, environment(), time.monotonic() + _HISTORY_SECONDS, limit=_MOST_HISTORY)
    return set((told or "").split()).intersection(asked)


def what_failed(program: Program, seconds: float) -> str:
    """Return in one line why a program of git failed, or took longer than it was given; "" if it did neither."""
    if program.exit_code is None:
        return f"{program.name} took longer than {seconds:g} s"
    if program.exit_code == 0:
        return ""
    lines = [line for line in program.complaint.content.decode(errors="replace").splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines[-1:]
    reason = reasons[0].removeprefix("fatal: ").removeprefix("error: ") if reasons else ""
    return cut(escaped(reason), _MOST_CHARACTERS) or f"{program.name} ended with {program.exit_code}"


def escaped(text: str) -> str:
    """Return a text of git's without control characters, so that no name starts a line."""
    return text.translate(_ESCAPES)


class GitPythonProcesses(Processes):
    """Programs that GitPython starts, each in its own session, so that its children are killed with it."""

    def _start(self, program: Program, environment: Mapping[str, str]) -> Popen[bytes]:
        with _variables(program.arguments[0]):
            from git import Git, GitCommandNotFound

            try:
                handle = Git().execute(
                    program.arguments,
                    env=environment,
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

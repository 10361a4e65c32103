"""The git command line: it runs no program that a repository brings along, writes nothing and contacts no server.

Every call of git uses this module. Git itself is taken from the absolute folders of the PATH, and not from those inside
the worktree.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from unified_state.lib.processes import Excerpt, Processes, Program
from unified_state.lib.shell.search_path import absolute_folders, find_program
from unified_state.project.find_repository import find_repository
from unified_state.project.rules.git_output import filter_names, what_git_says

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


def is_dropped(name: str) -> bool:
    """Return whether git is called without a variable of the environment."""
    return name.startswith("GIT_") and not name.startswith(_KEPT)


class GitNotCalledError(Exception):
    """Git is missing, or a call would run a program that a repository brings along; the message has the reason."""


class GitCommand:
    """Git for one worktree: its path, its environment, and the filters that are switched off."""

    def __init__(self, path: str, worktree: str, environment: dict[str, str]) -> None:
        self.path = path
        self.environment = environment
        self.filters: set[str] = set()
        self._beginning = [path, "-C", worktree, *_OPTIONS]

    def arguments(self, *question: str) -> list[str]:
        """Return the command line of a git command."""
        return [*self._beginning, *question]

    def switch_off(self, filters: set[str]) -> None:
        """Have no git command run these filters. Raises GitNotCalledError for one that cannot be named."""
        if odd := next((name for name in filters if "=" in name), None):  # `-c` ends a name at the first =
            message = f"git was not called: the filter {odd!r} cannot be switched off"
            raise GitNotCalledError(message)
        self.filters = filters
        for name in sorted(filters):
            for setting in ("clean=", "smudge=", "process=", "required=false"):
                self._beginning += ["-c", f"filter.{name}.{setting}"]


def find_git(environ: Mapping[str, str], folder: str) -> str | None:
    """Return the path of git; None if there is none, or only one inside the worktree of a folder.

    Raises ValueError for a folder that is not a valid path on any file system.
    """
    return find_program("git", environ, outside=find_repository(folder).worktree)


def prepare_git(
    worktree: str, environ: Mapping[str, str], *, converts: bool = True, start: StartPrograms = Processes
) -> GitCommand:
    """Return git for a worktree. Raises GitNotCalledError.

    Where git compares files with what is committed (`status`, `blame`), it converts them by filters. A filter is a
    program named in the configuration, and a repository unpacked from an archive brings a configuration written by a
    stranger. So git is asked for all filters first, which runs none, and they are switched off by name. A question
    about commits, refs and the index is answered without that: `converts=False`.
    """
    ours = {name: value for name, value in environ.items() if not is_dropped(name)} | _ENVIRONMENT
    ours["PATH"] = absolute_folders(environ)
    try:
        path = find_git(environ, worktree)
        if path is None:
            message = "there is no git on the PATH"
            raise GitNotCalledError(message)
        git = GitCommand(path, worktree, ours)
        if converts:
            git.switch_off(_read_filters(git, start))
    except (OSError, ValueError) as error:  # ValueError: not a valid path on any file system
        message = f"git could not be started: {error}"
        raise GitNotCalledError(message) from error
    return git


def _read_filters(git: GitCommand, start: StartPrograms) -> set[str]:
    """Return the names of the filters. Those of submodules are not asked for, so no command may enter one."""
    names = Excerpt(_MOST_BYTES)
    config = Program("git config", git.arguments("config", "-z", "--name-only", "--get-regexp", r"^filter\."), names)
    start([config], git.environment).finish(time.monotonic() + _SECONDS)
    if config.exit_code is None:
        message = f"{config.name} took longer than {_SECONDS:g} s"
    elif config.exit_code not in {0, _NO_NAME_FITS}:
        message = what_git_says(config.complaint.content) or f"{config.name} ended with {config.exit_code}"
    elif len(names.content) == _MOST_BYTES:
        message = "git was not called: there are too many filters"
    else:
        return set(map(os.fsdecode, filter_names(names.content)))
    raise GitNotCalledError(message)

"""The git command line: it runs no program that a repository brings along, writes nothing and contacts no server.

Every call of git uses this module. Git itself is taken from the absolute folders of the PATH, and not from those inside
the worktree.
"""

from __future__ import annotations

from unified_state.lib.processes import absolute_folders, find_program
from unified_state.memory.repository.find_repository import find_repository
from unified_state.memory.repository.git_config import ConfigError
from unified_state.memory.repository.git_filters import read_filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Variables that git sets for its own hooks and aliases, or that would select another repository, index or object store:
# the list of `git rev-parse --local-env-vars` without GIT_CONFIG_COUNT, through which machines set safe.directory.
# GIT_EXEC_PATH is added, because git would load parts of itself from there.
REPOSITORY_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_EXEC_PATH",
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
    "GIT_OPTIONAL_LOCKS": "0",  # git writes back no refreshed index, and takes no lock from the user's own git
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone fetches nothing
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# An empty core.fsmonitor turns it off in every version of git, because a daemon that we started would outlive us.
# safe.bareRepository: a folder of a clone can look like a bare repository, with a configuration by the clone's author.
_OPTIONS = ("--no-pager", "-c", "core.quotePath=off", "-c", "core.fsmonitor=", "-c", "safe.bareRepository=explicit")


class GitNotCalledError(Exception):
    """Git is missing, or a call would run a program that a repository brings along; the message has the reason."""


class GitCommand:
    """Git for one worktree: its path, its environment, and the filters that are switched off."""

    def __init__(self, path: str, worktree: str, environment: dict[str, str], filters: set[str]) -> None:
        self.path = path
        self.environment = environment
        self.filters = filters
        self._beginning = [path, "-C", worktree, *_OPTIONS]
        for name in sorted(filters):
            for setting in ("clean=", "smudge=", "process=", "required=false"):
                self._beginning += ["-c", f"filter.{name}.{setting}"]

    def arguments(self, *question: str) -> list[str]:
        """Return the command line of a git command."""
        return [*self._beginning, *question]


def find_git(environ: Mapping[str, str], folder: str) -> str | None:
    """Return the path of git; None if there is none, or only one inside the worktree of a folder.

    Raises ValueError for a folder that is not a valid path on any file system.
    """
    return find_program("git", environ, outside=find_repository(folder).worktree)


def prepare_git(worktree: str, environ: Mapping[str, str]) -> tuple[GitCommand, bool]:
    """Return git for a worktree, and whether it may look into submodules. Raises GitNotCalledError."""
    ours = {name: value for name, value in environ.items() if name not in REPOSITORY_VARIABLES} | _ENVIRONMENT
    ours["PATH"] = absolute_folders(environ)
    try:
        path = find_git(environ, worktree)
        if path is None:
            message = "there is no git on the PATH"
            raise GitNotCalledError(message)
        filters, complete = read_filters(worktree, path, ours)
    except ConfigError as error:
        message = f"git was not called: {error}"
        raise GitNotCalledError(message) from error
    except ValueError as error:  # not a valid path on any file system
        message = f"git could not be started: {error}"
        raise GitNotCalledError(message) from error
    if odd := next((name for name in filters if "=" in name), None):  # `-c` ends a name at the first =
        message = f"git was not called: the filter {odd!r} cannot be switched off"
        raise GitNotCalledError(message)
    return GitCommand(path, worktree, ours, filters), complete

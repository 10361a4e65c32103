"""Which folder is the user's home.

`HOME` may be set by others than the user: a project's `.claude/settings.json` sets variables for the client's hooks.
The password database is the user's own, so it decides where a wrong home would do harm.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HAS_DATABASE = sys.platform != "win32"  # Windows has no password database, and no `HOME` that counts


def own_home(environ: Mapping[str, str]) -> str:
    """The folder that `~` stands for; that of the password database where `~` lies inside a repository, for what lies
    there may be a stranger's. Empty where the database names none either.
    """
    home = os.path.expanduser("~")
    if (
        not _HAS_DATABASE
        or not os.path.isabs(home)
        or not _is_in_repository(home, environ.get("CLAUDE_PROJECT_DIR", ""))
    ):
        return home
    known = database_home()
    return home if known and _is_same(home, known) else known


def database_home() -> str:
    """The home that the password database has for the user of this process; empty where it has none."""
    if sys.platform == "win32":
        return ""
    import pwd  # few need it

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def is_moved(environ: Mapping[str, str]) -> bool:
    """Whether the home is another one than that of the password database."""
    return _HAS_DATABASE and not _is_same(own_home(environ), database_home())


def _is_same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _is_in_repository(home: str, project: str) -> bool:
    """Whether a git repository, or the client's project, holds the folder, by its name or behind its symlinks."""
    projects = {project, os.path.realpath(project)} if os.path.isabs(project) else set()
    return any(
        folder in projects or os.path.lexists(os.path.join(folder, ".git"))
        for path in {os.path.abspath(home), os.path.realpath(home)}
        for folder in _with_parents(path)
    )


def _with_parents(path: str) -> Iterator[str]:
    while path != os.path.dirname(path):
        yield path
        path = os.path.dirname(path)

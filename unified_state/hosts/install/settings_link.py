"""The file behind a settings file that is a symlink, as people who keep their settings in one folder have it.

A link stays, and its target is written. A link that came with a repository must not lead out of it: the repository
would choose which file of the user's is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import takewhile
from time import monotonic

from unified_state.errors import UnifiedStateError
from unified_state.lib.files import lies_in
from unified_state.project.git_command import run_git
from unified_state.settings import database_home, environment

_SECONDS = 10.0  # for git
_LINK = "120000 "  # the mode of a symlink in git's index


def file_behind(path: str) -> str:
    """Return the file to write for a settings file. Raises UnifiedStateError for a link that came with a repository and
    leads out of it.
    """
    real = os.path.realpath(path)
    folders = list(_folders_above(os.path.abspath(path)))
    top = next((folder for folder in folders if os.path.lexists(os.path.join(folder, ".git"))), None)
    if top is None or any(lies_in(one, os.path.realpath(top)) for one in (real, os.path.realpath(database_home()))):
        return real  # a repository that holds the home is the user's own; `HOME` may be set by a project
    inside = [os.path.abspath(path), *takewhile(lambda folder: folder != top, folders)]
    links = [os.path.relpath(one, top) for one in inside if os.path.islink(one)]
    if links and _may_be_tracked(top, links):
        message = f"{path} is a link of this repository, and leads out of it to {real}"
        raise UnifiedStateError(message, "nothing was changed; replace the link by a file of your own")
    return real


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path as it is written, the nearest first."""
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder


def _may_be_tracked(top: str, links: list[str]) -> bool:
    """Return whether git has one of these links in its index, or does not say."""
    question = ("ls-files", "--stage", "-z", "--", *(f":(literal){link}" for link in links))
    known = run_git(top, question, environment(), monotonic() + _SECONDS)
    return known is None or any(entry.startswith(_LINK) for entry in known.split("\0"))

"""The first commit of a repository: what a clone shares with its origin, and an unrelated repository does not."""

from __future__ import annotations

import time

from unified_state.memory.repository.find_repository import read_head
from unified_state.memory.repository.git_state import run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.memory.repository.find_repository import Repository

_SECONDS = 1.0  # for walking through all of a history


def first_commit(repository: Repository, environ: Mapping[str, str]) -> str:
    """The oldest commit that HEAD comes from, of several the one that sorts first; the commit of HEAD where git is
    missing or takes too long. Empty where there is no commit.
    """
    head, _ = read_head(repository)
    if head is None:
        return ""
    roots = run_git(repository.worktree, ("rev-list", "--max-parents=0", "HEAD"), environ, _end())
    return min(roots.split(), default=head) if roots is not None else head


def has_commit(repository: Repository, commit: str, environ: Mapping[str, str]) -> bool:
    """Whether the repository has a commit; with an empty one, whether it has none at all."""
    if not commit:
        return read_head(repository)[0] is None
    kind = run_git(repository.worktree, ("cat-file", "-t", commit), environ, _end())
    return kind is not None and kind.strip() == "commit"


def _end() -> float:
    return time.monotonic() + _SECONDS

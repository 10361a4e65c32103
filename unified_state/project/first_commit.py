"""The first commit of a repository, which a clone shares with its origin and an unrelated repository does not."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from unified_state.project.find_repository import Repository, read_head
from unified_state.project.git_state import run_git

_SECONDS = 1.0  # limit for a walk through the whole history


def first_commit(repository: Repository, environ: Mapping[str, str]) -> str:
    """Return the root commit that HEAD descends from, the one that sorts first if there are several.

    It is the commit of HEAD if git is missing or exceeds the timeout, and "" without commits.
    """
    head, _ = read_head(repository)
    if head is None:
        return ""
    roots = _ask_git(repository, ("rev-list", "--max-parents=0", "HEAD"), environ)
    return min(roots.split(), default=head) if roots is not None else head


def has_commit(repository: Repository, commit: str, environ: Mapping[str, str]) -> bool:
    """Return whether the repository has a commit. For an empty commit id, return whether it has no commits at all."""
    if not commit:
        return read_head(repository)[0] is None
    kind = _ask_git(repository, ("cat-file", "-t", commit), environ)
    return kind is not None and kind.strip() == "commit"


def _ask_git(repository: Repository, question: Sequence[str], environ: Mapping[str, str]) -> str | None:
    return run_git(repository.worktree, question, environ, time.monotonic() + _SECONDS, converts=False)

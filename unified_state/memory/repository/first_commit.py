"""The first commit of a repository: what a clone shares with its origin, and an unrelated repository does not."""

from __future__ import annotations

import time

from unified_state.memory.repository.find_repository import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unified_state.memory.repository.find_repository import Repository

_SECONDS = 1.0  # for walking through all of a history


def first_commit(repository: Repository, environ: Mapping[str, str]) -> str:
    """The oldest commit that HEAD comes from, of several the one that sorts first; the commit of HEAD where git is
    missing or takes too long. Empty where there is no commit.
    """
    head, _ = read_head(repository)
    if head is None:
        return ""
    roots = _ask_git(repository, ("rev-list", "--max-parents=0", "HEAD"), environ)
    return min(roots.split(), default=head) if roots is not None else head


def has_commit(repository: Repository, commit: str, environ: Mapping[str, str]) -> bool:
    """Whether the repository has a commit; with an empty one, whether it has none at all."""
    if not commit:
        return read_head(repository)[0] is None
    kind = _ask_git(repository, ("cat-file", "-t", commit), environ)
    return kind is not None and kind.strip() == "commit"


def _ask_git(repository: Repository, question: Sequence[str], environ: Mapping[str, str]) -> str | None:
    from unified_state.memory.repository.git_state import (
        run_git,  # loads seven modules, and every session start looks for a commit
    )

    return run_git(repository.worktree, question, environ, time.monotonic() + _SECONDS)

"""Which commits are not in the history of another one, and which of them come after it, as git tells."""

from __future__ import annotations

import time
from collections.abc import Iterable

from unified_state.lib.processes import Processes
from unified_state.project.find_repository import is_object_id
from unified_state.project.git_command import StartPrograms
from unified_state.project.git_state import run_git
from unified_state.settings import environment

_SECONDS = 1.0
_MOST_COMMITS, _MOST_BYTES = 1_000, 4 << 20
# Parents come before their children. Replaced commits count as they were written.
_QUESTION = (
    "--no-replace-objects", "rev-list", "--topo-order", "--reverse", "--parents", "--ignore-missing",
)  # fmt: skip


def outside_history(
    worktree: str,
    head: str,
    commits: Iterable[str],
    *,
    seconds: float = _SECONDS,
    start: StartPrograms = Processes,
) -> tuple[set[str], set[str]]:
    """Return those of the commits that are not in the history of `head`, and those of these that have it in theirs.

    Both are empty if git cannot tell within some seconds. A commit that is missing is in neither.
    """
    asked = [commit for commit in dict.fromkeys(commits) if commit != head and is_object_id(commit)][:_MOST_COMMITS]
    if not asked or not is_object_id(head):
        return set(), set()
    end = time.monotonic() + seconds
    question = (*_QUESTION, *asked, f"^{head}", "--")
    told = run_git(worktree, question, environment(), end, limit=_MOST_BYTES, start=start)
    outside: set[str] = set()
    later = {head}
    for commit, *parents in map(str.split, (told or "").splitlines()):
        outside.add(commit)
        if not later.isdisjoint(parents):
            later.add(commit)
    return outside.intersection(asked), later.intersection(asked)

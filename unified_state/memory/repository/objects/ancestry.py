"""Which commits come after another one in the history, read from `.git` within a limit."""

from __future__ import annotations

from unified_state.memory.repository.objects.commit_store import CommitStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.memory.repository.find_repository import Repository

MOST_COMMITS = 10_000  # that are read for one question
_CLOCKS = 86_400  # seconds by which the clocks of two machines may differ
_DIGITS = frozenset("0123456789abcdef")
_LENGTHS = (40, 64)  # of SHA-1 and SHA-256


def descendants_of(repository: Repository, head: str, commits: Iterable[str], most: int = MOST_COMMITS) -> set[str]:
    """Return those of the commits that have `head` among their ancestors. `head` is not one of them.

    A commit that cannot be read, or whose history is longer than `most`, is left out.
    """
    wanted = [commit for commit in dict.fromkeys(commits) if commit != head and _is_id(commit)]
    if repository.common_dir is None or not wanted or not _is_id(head):
        return set()
    store = CommitStore(repository.common_dir)
    try:
        first = store.find(head)
        children = {} if first is None else _children(store, wanted, first[0] - _CLOCKS, most)
    finally:
        store.close()
    return _above(head, children).intersection(wanted)


def ancestors_of(repository: Repository, head: str, commits: Iterable[str], most: int = MOST_COMMITS) -> set[str]:
    """Return those of the commits that are in the history of `head`, as far as `most` commits tell."""
    wanted = [commit for commit in dict.fromkeys(commits) if commit != head and _is_id(commit)]
    if repository.common_dir is None or not wanted or not _is_id(head):
        return set()
    store = CommitStore(repository.common_dir)
    try:
        times = [found[0] for commit in wanted if (found := store.find(commit)) is not None]
        known = _children(store, [head], min(times) - _CLOCKS, most, set(wanted)) if times else {}
        return set(known).intersection(wanted)
    finally:
        store.close()


def _children(
    store: CommitStore, commits: list[str], since: int, most: int, until: set[str] | None = None
) -> dict[str, list[str]]:
    """Return the children of each commit, from these commits down to those that are older than a time (seconds), or
    until all commits of a set were met.
    """
    children: dict[str, list[str]] = {}
    left, seen = list(commits), set(commits)
    for commit in left:  # which grows
        if len(seen) > most or (until is not None and until <= seen):
            break
        found = store.find(commit)
        if found is None or found[0] < since:
            continue
        for parent in found[1]:
            if _is_id(parent):
                children.setdefault(parent, []).append(commit)
                if parent not in seen:
                    seen.add(parent)
                    left.append(parent)
    return children


def _above(commit: str, children: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    left = [commit]
    while left:
        for child in children.get(left.pop(), ()):
            if child not in found:
                found.add(child)
                left.append(child)
    return found


def _is_id(text: str) -> bool:
    return len(text) in _LENGTHS and _DIGITS.issuperset(text)

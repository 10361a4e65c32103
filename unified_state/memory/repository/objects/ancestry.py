"""Which commits come after another one in the history, read from `.git` within a limit.

The parents and the time of a commit come from loose objects, packs and alternates. Replaced commits and grafts count as
git wrote them at first. Nothing is written, and git is not started.
"""

from __future__ import annotations

import os
from time import thread_time
from zlib import decompressobj
from zlib import error as ZlibError  # noqa: N812

from unified_state.lib.stdlib import read_regular
from unified_state.memory.repository.objects.pack_file import LARGEST, UNREADABLE, PackFile, packs_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from unified_state.memory.repository.find_repository import Repository

    Found = tuple[int, tuple[str, ...]]

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


_MOST_PACKS, _MOST_FOLDERS = 200, 8
_SMALL = 1 << 16
_SECONDS = 0.3  # of the processor, about what 10,000 ordinary commits take


class CommitStore:
    """The commits in a git dir. Files stay open until `close`.

    A pack can be made so that each commit costs much time. After so many seconds of the processor no commit is found.
    """

    def __init__(self, common_dir: str, seconds: float = _SECONDS) -> None:
        self._deadline = thread_time() + seconds
        self._folders = _object_folders(os.path.join(common_dir, "objects"))
        self._packs: list[PackFile] | None = None
        self._shallow = set(_lines(os.path.join(common_dir, "shallow")))

    def close(self) -> None:
        """Close the files."""
        for pack in self._packs or ():
            pack.close()

    def find(self, commit: str) -> Found | None:
        """Return when a commit was made, in seconds since 1970, and its parents; None if it cannot be read, or not in
        time.

        Where a shallow clone ends, a commit has no parents.
        """
        if self._is_late():
            return None
        content = self._loose(commit) or self._packed(commit)
        found = None if content is None else _parsed(content)
        return (found[0], ()) if found and commit in self._shallow else found

    def _is_late(self) -> bool:
        return thread_time() > self._deadline

    def _loose(self, commit: str) -> bytes | None:
        for folder in self._folders:
            try:
                data = read_regular(os.path.join(folder, commit[:2], commit[2:]), LARGEST)
                content = decompressobj().decompress(data, LARGEST)
            except (OSError, ZlibError):
                continue  # not here, or damaged: another folder may have it
            head, _, body = content.partition(b"\0")
            if head.startswith(b"commit "):
                return body
        return None

    def _packed(self, commit: str) -> bytes | None:
        if self._packs is None:
            self._packs = [pack for folder in self._folders for pack in packs_in(folder, _MOST_PACKS)]
        name = bytes.fromhex(commit)
        for number, pack in enumerate(self._packs):
            if self._is_late():
                break
            try:
                content = pack.commit(name)
            except UNREADABLE:
                continue  # damaged, or of another version: another pack may have it
            if content is not None:
                if number:  # the next commit is most likely in the same pack
                    self._packs.insert(0, self._packs.pop(number))
                return content
        return None


def _object_folders(first: str) -> list[str]:
    """Return the folders of objects: the repository's own, and those that it borrows from."""
    folders = [first]
    for folder in folders:
        for line in _lines(os.path.join(folder, "info", "alternates")):
            path = os.path.normpath(os.path.join(folder, line))
            if not line.startswith("#") and path not in folders and len(folders) < _MOST_FOLDERS:
                folders.append(path)
    return folders


def _lines(path: str) -> list[str]:
    try:
        return os.fsdecode(read_regular(path, _SMALL)).split("\n") if os.path.lexists(path) else []
    except (OSError, ValueError):
        return []


def _parsed(content: bytes) -> Found | None:
    """Return the committer's time and the parents in the header of a commit."""
    parents = []
    for line in content.partition(b"\n\n")[0].split(b"\n"):
        field, _, value = line.partition(b" ")
        if field == b"parent":
            parents.append(value.decode("ascii", "replace"))
        elif field == b"committer":
            at = value.rpartition(b"> ")[2].split(b" ")[0]
            return (int(at) if at.isdigit() and len(at) < 16 else 0), tuple(parents)  # noqa: PLR2004
    return None

"""Items whose files, identifiers, commands or versions are not in the working tree any more."""

from __future__ import annotations

import os
import time

from unified_state.lib.processes import Excerpt, Program, start_programs
from unified_state.lib.record import Record
from unified_state.memory.ledger.item_table import ACTIVE
from unified_state.memory.ledger.rules.short_item import is_captured, main_text
from unified_state.memory.repository.find_repository import read_head
from unified_state.memory.repository.git_command import GitNotCalledError, prepare_git
from unified_state.memory.working_tree.item_names import absent_names
from unified_state.memory.working_tree.rules.named import is_about_change, versions_in
from unified_state.memory.working_tree.tree_view import TreeView
from unified_state.model.constraint import USER_SAID
from unified_state.upkeep.audit.rules.mend import GONE, Finding, edit_command, end_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.repository.find_repository import Repository
    from unified_state.model.item import LedgerItem

_LOOKUPS, _BYTES = 20_000, 64 << 20
_LISTED = 32 << 20  # bytes of the list of tracked files
_MOST_SYMBOLS, _SECONDS = 20, 10.0  # looked for in all files
_NOT_FOUND = 1  # exit code of `git grep`
_GREP = (
    "grep", "--quiet", "-I", "--fixed-strings", "--word-regexp", "--untracked", "--no-textconv",
    "--no-recurse-submodules", "-e",
)  # fmt: skip
_FILES = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_COULD_NOT = (GitNotCalledError, OSError, ValueError)


def gone_from_tree(
    archive: Archive, repository: Repository, items: Sequence[LedgerItem], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield the active items that name what is gone, and nothing about those of another branch.

    A file counts if it was there when the item was recorded, and an identifier if its session saw it in such a file and
    it is in no other file now. A text about a change may name what is gone on purpose.
    """
    _, branch = read_head(repository)
    view = TreeView(repository.worktree, lookups=_LOOKUPS, size=_BYTES)
    search = _Search(repository.worktree, environ)
    for item in items:
        is_elsewhere = item.branch is not None and branch is not None and item.branch != branch
        if item.status != ACTIVE or is_elsewhere:
            continue
        found = _gone_files(item, view, search)
        if found is None and not is_captured(item):
            found = _gone_names(archive, item, view, search)
        if found is not None:
            yield found


def _gone_files(item: LedgerItem, view: TreeView, search: _Search) -> Finding | None:
    """Return the finding about an item of whose files none is left."""
    paths = list(item.file_hashes)
    if not paths or is_about_change(main_text(item)) or not all(map(view.is_gone, paths)):
        return None
    moved = search.moved(paths[0]) if len(paths) == 1 else ""
    if moved is None:  # there are several files of that name, or it is not known
        return None
    if not moved:
        named = ", ".join(paths[:3])
        return Finding(GONE, item.alias, f"names {named}, which {_verb(paths)} gone", end_command(item))
    if is_captured(item) or item.origin == USER_SAID:  # no command rewrites what the user said
        return None
    return Finding(GONE, item.alias, f"names {paths[0]}, which is {moved} now", edit_command(item, paths[0], moved))


def _verb(paths: Sequence[str]) -> str:
    return "is" if len(paths) == 1 else "are"


def _gone_names(archive: Archive, item: LedgerItem, view: TreeView, search: _Search) -> Finding | None:
    """Return the finding about an item with an identifier, a command or a version that is not in the tree."""
    absent = absent_names(archive, view, item)
    if absent.versions and item.origin != USER_SAID:
        name, _, now = absent.versions[0].rpartition(" ")
        was = versions_in(main_text(item)).get(name, "")
        return Finding(GONE, item.alias, f"names {name} {was}, which is {now} now", edit_command(item, was, now))
    if absent.commands:
        why = f"names `{absent.commands[0]}`, whose script or target is gone"
        return Finding(GONE, item.alias, why, end_command(item))
    symbol = next((name for name in absent.symbols if search.is_nowhere(name)), None)
    why = f"names {symbol}, which is in no file now"
    return None if symbol is None else Finding(GONE, item.alias, why, end_command(item))


class _Files(Record):
    """The paths of a tree by their names, None if they are not known."""

    by_name: dict[str, list[str]] | None


class _Search:
    """Searches all files of a repository with git. Each name is searched once, and for a bounded time in all."""

    def __init__(self, worktree: str, environ: Mapping[str, str]) -> None:
        self._worktree, self._environ = worktree, environ
        self._until: float | None = None
        self._nowhere: dict[str, bool] = {}
        self._files: _Files | None = None

    def is_nowhere(self, symbol: str) -> bool:
        """Return whether no file has an identifier. False if that is not known."""
        if symbol not in self._nowhere:
            known = len(self._nowhere) < _MOST_SYMBOLS
            self._nowhere[symbol] = known and self._run(Excerpt(0), *_GREP, symbol, "--", ".") == _NOT_FOUND
        return self._nowhere[symbol]

    def moved(self, path: str) -> str | None:
        """Return the path of the only file with the name of a file that is gone, "" without one, None if unknown."""
        if self._files is None:
            self._files = _Files(self._list())
        if self._files.by_name is None:
            return ""
        others = self._files.by_name.get(os.path.basename(path), [])
        return None if len(others) > 1 else others[0] if others else ""

    def _list(self) -> dict[str, list[str]] | None:
        listed = Excerpt(_LISTED)
        if self._run(listed, *_FILES) != 0 or len(listed.content) == _LISTED:
            return None
        by_name: dict[str, list[str]] = {}
        for path in map(os.fsdecode, listed.content.split(b"\0")[:-1]):
            if os.path.lexists(os.path.join(self._worktree, path)):
                by_name.setdefault(os.path.basename(path), []).append(path)
        return by_name

    def _run(self, output: Excerpt, *question: str) -> int | None:
        """Return the exit code of a git command, None if it could not be run, or not to its end."""
        if self._until is None:
            self._until = time.monotonic() + _SECONDS
        try:
            git, _ = prepare_git(self._worktree, self._environ)
            program = Program("git", git.arguments(*question), output)
            start_programs([program], git.environment).finish(self._until)
        except _COULD_NOT:
            return None
        return program.exit_code

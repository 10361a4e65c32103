"""Rules of one project in the archive of another: where they were said, and which paths and project they name."""

from __future__ import annotations

import os

from unified_state.lib.record import Record
from unified_state.lib.text import cut, one_line
from unified_state.memory.ledger.rules.short_item import main_text, scope_in
from unified_state.memory.repository.checkouts import all_checkouts
from unified_state.model.item import CONSTRAINT, DECISION
from unified_state.upkeep.audit.rules.mend import OF_ANOTHER_PROJECT, Finding, end_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.memory.archive.archive import Archive
    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.item import LedgerItem

_MOST_CHECKOUTS = 200
_SHORTEST = 3  # characters of a project's name
_AROUND_PATH = "`'\"()[]{}<>,;:!?*"


class Others(Record):
    """The worktrees of this archive and those of others, each with a separator at its end, and the others' names."""

    own: tuple[str, ...]
    others: tuple[str, ...]
    projects: tuple[str, ...]

    def owner(self, path: str) -> str:
        """Return the other worktree that a path is in, or ""."""
        inside = os.path.join(os.path.normpath(path), "") if os.path.isabs(path) else ""
        if not inside or any(inside.startswith(own) for own in self.own):
            return ""
        return max((other for other in self.others if inside.startswith(other)), key=len, default="").rstrip("/\\")


def of_other_projects(archive: Archive, workspace: Workspace, items: Sequence[LedgerItem]) -> Iterator[Finding]:
    """Yield the rules and decisions that belong to another repository of the data folder."""
    others = _others(workspace)
    if not others.others:
        return
    roots = {
        session_id: root or worktree or ""
        for session_id, root, worktree in archive.rows("SELECT session_id, root, worktree FROM session")
    }
    for item in items:
        if item.kind in (CONSTRAINT, DECISION) and (why := _why(item, others, roots)):
            yield Finding(OF_ANOTHER_PROJECT, item.alias, why, end_command(item))


def _why(item: LedgerItem, others: Others, roots: dict[str, str]) -> str:
    """Return why an item belongs to another project, or ""."""
    said_in = others.owner(roots.get(item.session_id or "", ""))
    if said_in:
        return f"was said in a session of {said_in}"
    if item.kind == CONSTRAINT and (owners := _owners_of_paths(item, others)):
        return f"is about paths of {owners}"
    text = main_text(item).lower()
    name = next((name for name in others.projects if _is_for(text, name)), "")
    return f'names the project {name}: "{cut(one_line(main_text(item)), 60)}"' if name else ""


def _owners_of_paths(item: LedgerItem, others: Others) -> str:
    """Return the other project that all absolute paths of a constraint are in, or ""."""
    scope = scope_in(item.body)
    words = [word.strip(_AROUND_PATH) for word in main_text(item).split()]
    paths = [path for path in (*(scope.paths or () if scope else ()), *words) if os.path.isabs(path)]
    owners = {others.owner(path) for path in paths if len(path) > 1}
    return owners.pop() if len(owners) == 1 else ""


def _is_for(text: str, name: str) -> bool:
    """Return whether a text begins with the name of a project, or says that it is for that project."""
    phrases = (f"in {name}, ", f"for {name}: ", f"in the {name} project", f"in the {name} repo", f"{name}: ")
    return text.lstrip("`*[ ").startswith(phrases)


def _others(workspace: Workspace) -> Others:
    place = workspace.place
    own, others = {os.path.join(place.repository.worktree, "")}, set[str]()
    for number, checkout in enumerate(all_checkouts(workspace.settings.data_dir)):
        if number == _MOST_CHECKOUTS:
            break
        (own if checkout.id == place.id else others).add(os.path.join(checkout.worktree, ""))
    others -= own
    known = {os.path.basename(folder.rstrip("/\\")).lower() for folder in own}
    names = {os.path.basename(folder.rstrip("/\\")).lower() for folder in others} - known
    worktree = place.repository.worktree
    kept = {name for name in names if len(name) >= _SHORTEST and not os.path.lexists(os.path.join(worktree, name))}
    return Others(tuple(sorted(own)), tuple(sorted(others)), tuple(sorted(kept)))

"""The projects that the viewer shows: this one, and with `--all-projects` every other archive of the user."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from unified_state.archive.archive import Archive
from unified_state.errors import NotFoundError, UnifiedStateError
from unified_state.lib.record import Record
from unified_state.project.find_repository import Repository, find_repository
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import archives_of, worktree_of

T = TypeVar("T")


class Project(Record):
    """A project. `base` begins the addresses of its pages, and `root` those of all projects. Only this one has a
    workspace, so only this one changes.
    """

    name: str
    root: str
    base: str
    archive_path: str
    worktree: str
    workspace: Workspace | None = None

    def read(self, action: Callable[[Archive], T]) -> T:
        """Open the archive and return action(archive)."""
        if self.workspace is not None:
            return self.workspace.use(action)
        with Archive(self.archive_path) as archive:
            return action(archive)

    @property
    def repository(self) -> Repository:
        """The repository that the project's items are valid in."""
        return self.workspace.place.repository if self.workspace else find_repository(self.worktree)


def open_projects(workspace: Workspace, root: str, *, every: bool) -> dict[str, Project]:
    """Return the projects by their ids, this one first. Its id is ""."""
    worktree = workspace.place.repository.worktree
    own = Project(os.path.basename(worktree) or worktree, root, root, workspace.place.archive_path, worktree, workspace)
    found = {"": own}
    for path in archives_of(workspace) if every else ():
        name = os.path.basename(os.path.dirname(path))
        try:
            with Archive(path) as archive:
                other = worktree_of(archive) or ""
        except UnifiedStateError as error:
            workspace.report(f"skipped: {error.message}")
            continue
        if path != own.archive_path:
            found[name] = Project(os.path.basename(other) or name[:8], root, f"{root}/p/{name}", path, other)
    return found


def project_called(projects: dict[str, Project], name: str) -> Project:
    """Return a project by its id. Raises NotFoundError."""
    if name not in projects:
        message = f"there is no project {name[:40]!r} here"
        raise NotFoundError(message, "start the viewer with --all-projects to see the other projects")
    return projects[name]

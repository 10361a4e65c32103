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
    folder = os.path.join(workspace.settings.data_dir, "repositories")
    for name in sorted(os.listdir(folder)) if every and os.path.isdir(folder) else ():
        path = os.path.join(folder, name, "archive.db")
        if os.path.isfile(path) and path != own.archive_path:
            other = _other(name, path, root, workspace)
            found |= {} if other is None else {name: other}
    return found


def _other(name: str, path: str, root: str, workspace: Workspace) -> Project | None:
    """Return another project, or None if its archive cannot be read."""
    query = "SELECT coalesce(worktree, root) AS place FROM session WHERE place NOT NULL ORDER BY seen_at DESC LIMIT 1"
    try:
        with Archive(path) as archive:
            worktree = str(archive.value(query) or "")
    except UnifiedStateError as error:
        workspace.report(f"skipped: {error.message}")
        return None
    return Project(os.path.basename(worktree) or name[:8], root, f"{root}/p/{name}", path, worktree)


def project_called(projects: dict[str, Project], name: str) -> Project:
    """Return a project by its id. Raises NotFoundError."""
    if name not in projects:
        message = f"there is no project {name[:40]!r} here"
        raise NotFoundError(message, "start the viewer with --all-projects to see the other projects")
    return projects[name]

"""Disks that are full, or that nobody may write to, for a project in a namespace of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .namespaces import in_folder, mounted
from .product import Project


@contextmanager
def full_disk(project: Project, folder: Path) -> Iterator[Project]:
    """The project with `folder` on a disk of its own that has no room left; the file `ballast` there takes it up."""
    script = f"""
        cp -a {folder} {folder}.copy
        mount -t tmpfs -o size=1m tmpfs {folder}
        cp -a {folder}.copy/. {folder}
        cat /dev/zero > {folder}/ballast 2>/dev/null || true
    """
    with mounted(script) as prefix:
        yield Project(project.folder, project.home, in_folder(prefix, str(project.folder)))


@contextmanager
def read_only(project: Project, *folders: Path) -> Iterator[Project]:
    """The project with folders that nobody may write to, root neither."""
    script = "\n".join(f"mount --bind {path} {path}; mount -o remount,bind,ro {path}" for path in folders)
    with mounted(script) as prefix:
        yield Project(project.folder, project.home, in_folder(prefix, str(project.folder)))

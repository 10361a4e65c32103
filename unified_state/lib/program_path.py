"""The PATH without the folders that lead into a repository.

Its relative and empty entries name whatever folder we are in, which may be a stranger's repository.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def absolute_folders(environ: Mapping[str, str]) -> str:
    """The PATH without its relative and empty entries: those lead into whatever folder we are in, which may be a
    stranger's repository.
    """
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, folders)) or os.devnull  # an empty PATH is the folder we are in


def leave_relative_path() -> None:
    """Set the PATH of this process to its absolute folders, so that no library looks for a program anywhere else."""
    os.environ["PATH"] = absolute_folders(os.environ)

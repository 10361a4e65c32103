"""The PATH, by which programs are found."""

from __future__ import annotations

import os
from collections.abc import Mapping


def absolute_folders(environ: Mapping[str, str]) -> str:
    """Return the PATH without its relative and empty entries.

    Those refer to the current folder, which may be a stranger's repository.
    """
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, folders)) or os.devnull  # an empty PATH would mean the current folder


def find_program(name: str, environ: Mapping[str, str], outside: str = "") -> str | None:
    """Return the path of a program in the absolute folders of the PATH, or None.

    Programs in the folder `outside` are skipped, unless that folder also contains the user's home.
    """
    name = f"{name}.exe" if os.name == "nt" else name
    avoided = os.path.join(os.path.realpath(outside), "") if outside else ""
    if avoided and os.path.join(os.path.realpath(os.path.expanduser("~")), "").startswith(avoided):
        avoided = ""
    for folder in absolute_folders(environ).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            if avoided and os.path.join(os.path.realpath(folder), "").startswith(avoided):
                continue
            return path
    return None

"""Start a sync in the background, as a detached process that ends without supervision.

It shares no pipe and no process group with the hook that starts it, and is not its child. PostgreSQL's variables do not
reach it, because a project may set them for the client's hooks.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from subprocess import DEVNULL

from unified_state.archive.archive import Archive
from unified_state.lib.package import PACKAGE_ROOT

_CODE = (
    "import os,sys;os.chdir(sys.argv[1]);sys.path.append(sys.argv[2]);"
    "from unified_state.interfaces.cli.main import main;main(['sync','--background'])"
)
_FIRST_PAUSE, _LONGEST_PAUSE = 60_000, 3_600_000  # milliseconds between failing background runs
CONSENT = "history goes to"  # the name of the value in the archive that says so
FOREIGN = ("PG", "RUVECTOR_")  # prefixes of variables that select a server


def start_sync(archive: Archive, worktree: str, environ: Mapping[str, str], now: int) -> None:
    """Start a sync of a worktree, if its history may go to a server, unless the last one failed a short time ago."""
    if archive.meta(CONSENT) and is_run_due(archive, now):
        arguments = [sys.executable, "-I", "-c", _CODE, worktree, PACKAGE_ROOT]
        start_detached(arguments, own_environment(environ))


def is_run_due(archive: Archive, now: int) -> bool:
    """Return whether a background run may start. After each failure the pause doubles, up to an hour."""
    row = archive.row("SELECT failures, began_at FROM outbox_server ORDER BY began_at DESC LIMIT 1")
    if row is None or not row[0]:
        return True
    failures, began_at = row
    pause = min(_FIRST_PAUSE << min(failures - 1, 10), _LONGEST_PAUSE)
    return not began_at <= now < began_at + pause


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables that could send history elsewhere."""
    return {name: value for name, value in environ.items() if not name.startswith(FOREIGN)}


def start_detached(arguments: list[str], environ: Mapping[str, str]) -> None:
    """Start a program in its own session, with no terminal and no pipe.

    A client that ends also kills its running hooks and their children. So a shell starts the program, and has ended
    when this function returns.
    """
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        subprocess.Popen(arguments, env=environ, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, creationflags=flags)
    else:
        command = ["/bin/sh", "-c", '"$@" &', "sh", *arguments]
        subprocess.run(
            command, env=environ, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True, check=False
        )

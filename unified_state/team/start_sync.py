"""Starting a sync behind the user's back: a process of its own, which nobody waits for and which ends itself.

It shares nothing with the hook that starts it: neither pipes nor a process group, nor is it a child of it. Names of
PostgreSQL in the environment do not reach it: a project may set them for the client's hooks.
"""

from __future__ import annotations

import os
import sys

from unified_state.lib.package import PACKAGE_ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from unified_state.memory.archive.archive import Archive

_CODE = (
    "import os,sys;os.chdir(sys.argv[1]);sys.path.append(sys.argv[2]);"
    "from unified_state.interfaces.cli.main import main;main(['sync','--background'])"
)
_FIRST_PAUSE, _LONGEST_PAUSE = 60_000, 3_600_000  # milliseconds between runs in the background that fail
FOREIGN = ("PG", "RUVECTOR_")  # how the names of variables begin that say where a server is


def start_sync(archive: Archive, worktree: str, environ: Mapping[str, str], now: int) -> None:
    """Start a sync of a worktree, unless the last ones failed just now."""
    if is_run_due(archive, now):
        arguments = [sys.executable, "-I", "-c", _CODE, worktree, PACKAGE_ROOT]
        start_detached(arguments, own_environment(environ))


def is_run_due(archive: Archive, now: int) -> bool:
    """Whether a run in the background is worth beginning: after failures the pauses double, up to an hour."""
    row = archive.row("SELECT failures, began_at FROM outbox_server ORDER BY began_at DESC LIMIT 1")
    if row is None or not row[0]:
        return True
    failures, began_at = row
    pause = min(_FIRST_PAUSE << min(failures - 1, 10), _LONGEST_PAUSE)
    return not began_at <= now < began_at + pause


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what could send history elsewhere."""
    return {name: value for name, value in environ.items() if not name.startswith(FOREIGN)}


def start_detached(arguments: list[str], environ: Mapping[str, str]) -> None:
    """Start a program in a session of its own, with no terminal and no pipe. A client that ends also ends the hooks
    that are at work, and their children: so it is started by a shell that has ended when this returns, and is reaped.
    """
    if not hasattr(os, "posix_spawn"):
        _start_on_windows(arguments, environ)
        return
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    command = ["/bin/sh", "-c", '"$@" &', "sh", *arguments]
    try:
        shell = os.posix_spawn(command[0], command, environ, file_actions=silent, setsid=True)
    except NotImplementedError:  # an old system
        shell = os.posix_spawn(command[0], command, environ, file_actions=silent, setpgroup=0)
    os.waitpid(shell, 0)


def _start_on_windows(arguments: list[str], environ: Mapping[str, str]) -> None:
    from subprocess import CREATE_NEW_PROCESS_GROUP, DETACHED_PROCESS, DEVNULL, Popen  # type: ignore[attr-defined]

    Popen(
        arguments,
        env=environ,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        creationflags=DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP,
    )

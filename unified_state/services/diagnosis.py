"""Diagnosis: does everything that has to be in place for nothing to be lost stand where it should?"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys

from unified_state import __version__
from unified_state.assets import PACKAGE_ROOT
from unified_state.errors import UnifiedStateError
from unified_state.interpreter import sqlite_version_info
from unified_state.records.record import Record
from unified_state.rules.timestamps import age_text
from unified_state.services.health import last_runs, read_log
from unified_state.services.host_installation import called_programs, installed_hosts
from unified_state.services.installation import SCOPES, our_handlers, read_settings, target
from unified_state.storage.damage import is_healthy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from unified_state.services.place import Place
    from unified_state.settings import Settings

_LEAST_FREE = 200 * 1024 * 1024  # bytes
_NETWORK_FILE_SYSTEMS = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "fuse.sshfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "fuse.s3fs",
}
_RECENT_PROBLEMS = 5


class Check(Record):
    """One check: `ok` is False for what needs mending; `hint` says how."""

    name: str
    ok: bool
    message: str
    hint: str = ""


def diagnose(place: Place, settings: Settings, environ: Mapping[str, str], now: int) -> list[Check]:
    """All checks, those that matter most first."""
    return [
        *_hooks(place, environ),
        *_hosts(place, environ),
        *_runs(place, now),
        *_problems(settings),
        _archive(place),
        _file_system(place),
        _space(place),
        _compiled(),
        *_settings(settings),
        _versions(),
    ]


def _hooks(place: Place, environ: Mapping[str, str]) -> Iterator[Check]:
    found = False
    for scope in SCOPES:
        path = target(scope, place.repository.worktree, environ).settings_path
        try:
            handlers = our_handlers(read_settings(path))
        except UnifiedStateError as error:
            yield Check(f"hooks ({scope})", ok=False, message=error.message, hint=error.hint)
            continue
        if handlers:
            found = True
            yield _handlers(scope, path, handlers)
    if not found and not any(installed_hosts(place.repository.worktree, environ)):
        yield Check("hooks", ok=False, message="not installed", hint="run `unified-state install`")


def _hosts(place: Place, environ: Mapping[str, str]) -> Iterator[Check]:
    """Whether the programs live that the hooks in other hosts' files call."""
    for host, path in installed_hosts(place.repository.worktree, environ):
        try:
            gone = [program for program in called_programs(host, path) if not os.access(program, os.X_OK)]
        except UnifiedStateError as error:
            yield Check(f"hooks ({host.name})", ok=False, message=error.message, hint=error.hint)
            continue
        if gone:
            hint = f"run `unified-state install --host {host.name}` again"
            told = f"{gone[0]} in {path} is no program any more"
            yield Check(f"hooks ({host.name})", ok=False, message=told, hint=hint)
        else:
            seen = (
                f"run with {host.tried}" if host.tried else f"written after its documents, never run with {host.title}"
            )
            yield Check(f"hooks ({host.name})", ok=True, message=f"in {path}; {seen}")


def _handlers(scope: str, path: str, handlers: list[dict[str, Any]]) -> Check:
    """Whether the hooks' interpreter lives and finds the package."""
    hint = "run `unified-state install` again"
    for command in {handler.get("command", "") for handler in handlers}:
        if not os.access(command, os.X_OK):
            return Check(f"hooks ({scope})", ok=False, message=f"{command} in {path} is no program any more", hint=hint)
    code = next(argument for argument in handlers[0]["args"] if "import" in argument)
    probe = code.replace(";main()", "")
    done = subprocess.run(
        [handlers[0]["command"], "-I", "-S", "-c", probe], capture_output=True, text=True, timeout=30, check=False
    )
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return Check(f"hooks ({scope})", ok=False, message=f"the hooks in {path} do not start: {problem}", hint=hint)
    return Check(f"hooks ({scope})", ok=True, message=f"{len(handlers)} handlers in {path}")


def _runs(place: Place, now: int) -> Iterator[Check]:
    runs = last_runs(place.folder)
    if not runs:
        yield Check("last runs", ok=True, message="no hook has run here yet")
    for run in runs:
        told = f"{age_text(now - run.at)}, {run.milliseconds} ms"
        hint = "the log has the details" if run.problem else ""
        yield Check(
            run.event, ok=not run.problem, message=f"{told}{f': {run.problem}' if run.problem else ''}", hint=hint
        )


def _problems(settings: Settings) -> Iterator[Check]:
    log = os.path.join(settings.data_dir, "hook.log")
    problems = read_log(settings.data_dir, _RECENT_PROBLEMS)
    told = "; ".join(f"{problem.get('at')} {problem.get('event')}: {problem.get('problem')}" for problem in problems)
    yield Check("log", ok=True, message=f"the newest problems in {log}: {told}" if problems else "no problems")


def _archive(place: Place) -> Check:
    if not os.path.exists(place.archive_path):
        return Check("archive", ok=True, message="nothing is archived here yet")
    try:
        healthy = is_healthy(place.archive_path)
    except UnifiedStateError as error:
        return Check("archive", ok=False, message=error.message, hint=error.hint)
    size = os.path.getsize(place.archive_path) / 1e6
    aside = [name for name in os.listdir(place.folder) if ".damaged-" in name]
    told = f"; set aside earlier: {', '.join(aside)}" if aside else ""
    if not healthy:
        return Check("archive", ok=False, message="damaged", hint="it is set aside at the next use; nothing is deleted")
    return Check("archive", ok=True, message=f"whole, {size:.1f} MB in {place.archive_path}{told}")


def _file_system(place: Place) -> Check:
    kind = network_file_system(place.folder)
    if kind:
        return Check(
            "file system",
            ok=False,
            message=f"the archive lies on a network file system ({kind}), where locks are not reliable",
            hint=f"set data_dir to a local folder in the settings file (now: {place.folder})",
        )
    return Check("file system", ok=True, message="local, as far as can be told")


def network_file_system(path: str) -> str | None:
    """The type of the network file system that a path lies on; None where it is local or cannot be told."""
    kind = file_system_of(path)
    return kind if kind in _NETWORK_FILE_SYSTEMS else None


def file_system_of(path: str) -> str | None:
    """The type of the file system that holds a path, as /proc/mounts names it; None where that does not exist."""
    path = os.path.realpath(path)
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
            fields = [line.split(" ") for line in mounts]
    except OSError:
        return None
    holding = [
        (mount, kind) for _, mount, kind, *_ in fields if path == mount or path.startswith(mount.rstrip("/") + "/")
    ]
    return max(holding, key=lambda entry: len(entry[0]))[1] if holding else None


def _space(place: Place) -> Check:
    folder = place.folder
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    return Check(
        "free space", ok=free >= _LEAST_FREE, message=f"{free / 1e9:.1f} GB", hint="free some space on the disk"
    )


def _compiled() -> Check:
    """Without compiled modules each hook costs half as much again."""
    from importlib.util import cache_from_source

    module = os.path.join(PACKAGE_ROOT, "unified_state", "interfaces", "hook.py")
    present = os.path.exists(cache_from_source(module))
    return Check(
        "compiled modules", ok=present, message="present" if present else "missing", hint="run `unified-state install`"
    )


def _settings(settings: Settings) -> Iterator[Check]:
    for problem in settings.problems:
        yield Check("settings", ok=False, message=problem, hint="`unified-state config` shows all settings")


def _versions() -> Check:
    git = shutil.which("git")
    told = (
        subprocess.run([git, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        if git
        else "no git"
    )
    sqlite = ".".join(map(str, sqlite_version_info))
    message = (
        f"unified-state {__version__}, Python {platform.python_version()}, SQLite {sqlite}, {told}, {sys.platform}"
    )
    return Check("versions", ok=True, message=message)

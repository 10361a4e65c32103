"""One check of `doctor`."""

from __future__ import annotations

import os
import subprocess
import sys

from unified_state.agents.install.claude_settings import (
    PLUGIN,
    config_folder,
    is_enabled,
    known_program,
    settings_files,
)
from unified_state.agents.install.hook_table import (
    BEGIN,
    HOOK_MODULE,
    archives_in,
    called_root,
    is_output_handler,
    is_tool_handler,
    lean_level,
    our_handlers,
)
from unified_state.agents.install.install_claude_code import read_settings
from unified_state.agents.install.install_host import called_programs, installed_hosts
from unified_state.context.lean.rules.levels import NAMES
from unified_state.errors import UnifiedStateError
from unified_state.lib.package import PACKAGE_ROOT, __version__
from unified_state.lib.processes import find_program
from unified_state.lib.record import Record
from unified_state.memory.repository.find_repository import find_repository
from unified_state.memory.workspace.own_program import own_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


class Check(Record):
    """What a check found: `ok` is False for what needs mending; `hint` says how."""

    name: str
    ok: bool
    message: str
    hint: str = ""


_AGAIN = "run `unified-state install` again"
_SECONDS = 30  # that a program may take to tell its version


def check_hooks(project: str, data_dir: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """The checks for a client that starts in the folder `project`, where commands keep their data in `data_dir`."""
    found, enabled = [], is_enabled(project, environ)
    calls = set()
    for scope, path in settings_files(project, environ):
        try:
            settings = read_settings(path)
        except UnifiedStateError as error:
            yield Check(f"hooks ({scope})", ok=False, message=error.message, hint=error.hint)
            continue
        handlers = our_handlers(settings)
        if handlers:
            if not all(map(is_tool_handler, handlers)):
                found.append(scope)
                calls.add(str([handler for handler in handlers if not _is_by_itself(handler)]))
            yield _check_settings(scope, path, handlers, data_dir, project)
            yield from _check_lean(lean_level(settings), handlers, environ)
    if len(calls) > 1:  # the client runs what is the same once
        told = f"those of the scopes {' and '.join(found)} call different programs, so that each event is handled twice"
        yield Check("hooks", ok=False, message=told, hint="take one out: `unified-state uninstall --scope …`")
    if enabled:
        yield _check_plugin(environ, beside=found)
    hosts = list(_check_hosts(project, environ))
    yield from hosts
    if not found and not enabled and not hosts:
        yield Check("hooks", ok=False, message="not installed", hint="run `unified-state install`")
    yield from _check_path(project, environ)


def _check_hosts(project: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """Whether the programs live that the hooks in other hosts' files call."""
    for host, path in installed_hosts(project, environ):
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


def _check_settings(scope: str, path: str, handlers: list[dict[str, Any]], data_dir: str, project: str) -> Check:
    """Whether the hooks' interpreter lives and finds the package, and whether they archive where commands look."""
    for command in {str(handler.get("command")) for handler in handlers}:
        if not os.access(command, os.X_OK):
            return Check(
                f"hooks ({scope})", ok=False, message=f"{command} in {path} is no program any more", hint=_AGAIN
            )
    interpreter, root = str(handlers[0].get("command")), called_root(handlers[0])
    if root is None or not _may_be_tried(interpreter, root, project):
        told = (
            f"the hooks in {path} were not tried: `install` writes no such handler, or it calls a file of the project"
        )
        return Check(f"hooks ({scope})", ok=False, message=told, hint=f"look at the file; to replace them, {_AGAIN}")
    version, problem = _version_run_by(interpreter, f"{BEGIN}sys.path.append({root!r});import {HOOK_MODULE}")
    if problem:
        return Check(f"hooks ({scope})", ok=False, message=f"the hooks in {path} do not start: {problem}", hint=_AGAIN)
    if version != __version__:
        told = f"the hooks in {path} run unified-state {version}, this is {__version__}"
        return Check(f"hooks ({scope})", ok=False, message=told, hint=_AGAIN)
    elsewhere = next((folder for folder in map(archives_in, handlers) if folder != data_dir), None)
    if elsewhere is not None:
        told = f"the hooks in {path} archive in {elsewhere}, but commands look in {data_dir}"
        return Check(f"hooks ({scope})", ok=False, message=told, hint=_AGAIN)
    return Check(f"hooks ({scope})", ok=True, message=f"{len(handlers)} handlers in {path}")


def _may_be_tried(interpreter: str, root: str, project: str) -> bool:
    """Whether what a handler calls is this program, or one outside the project: a project's settings may be a
    stranger's.
    """
    if (interpreter, root) == (sys.executable, PACKAGE_ROOT):
        return True
    worktree = os.path.join(find_repository(project, ".claude").worktree, "")
    return all(
        os.path.isabs(path) and not spelling.startswith(worktree)
        for path in (interpreter, root)
        for spelling in (os.path.normpath(path), os.path.realpath(path))
    )


def _is_by_itself(handler: dict[str, Any]) -> bool:
    """Whether a handler may stand in one scope alone: it comes and goes with what it is for."""
    return is_tool_handler(handler) or is_output_handler(handler)


def _check_lean(level: str | None, handlers: list[dict[str, Any]], environ: Mapping[str, str]) -> Iterator[Check]:
    """Whether long outputs are shortened, which they are not where the agent could not recall them."""
    if level is None:
        return
    if level not in NAMES:
        yield Check("lean context", ok=False, message=f"there is no level {level!r}", hint=_AGAIN)
    elif own_program(environ, handlers[0]["command"]) is None:
        message = "no output is shortened: the agent would not find `unified-state` to recall it"
        yield Check("lean context", ok=False, message=message, hint="put unified-state on the PATH")
    else:
        yield Check("lean context", ok=True, message=f"{level}: long outputs are shortened, the archive has them whole")


def _check_plugin(environ: Mapping[str, str], *, beside: list[str]) -> Check:
    """What the plugin starts, and whether it works or leaves the work to the settings' hooks."""
    data = os.path.join(config_folder(environ), "plugins", "data")
    folders = [os.path.join(data, name) for name in _listed(data) if name.startswith(f"{PLUGIN}-")]
    known = next(filter(None, map(known_program, folders)), None)
    work = f"enabled, and {f'leaves the work to the hooks ({beside[0]})' if beside else 'runs the hooks'}"
    if known is None:
        return Check("plugin", ok=True, message=f"{work}; it has not looked for a program yet")
    interpreter, root = known
    version, problem = _version_run_by(interpreter, f"{BEGIN}sys.path.append({root!r})")
    if problem:
        return Check("plugin", ok=True, message=f"{work}; the program in {root} has gone, so it looks again")
    if version != __version__:
        told = f"{work}; it starts unified-state {version} of {root}, this is {__version__}"
        return Check("plugin", ok=False, message=told, hint="update the one that is older")
    return Check("plugin", ok=True, message=f"{work}; it starts {root}")


def _check_path(project: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """Whether the agent's commands are of this version too. What lies in the project is not run to ask it."""
    program = find_program(PLUGIN, environ, outside=find_repository(project, ".claude").worktree)
    if program is None or os.path.dirname(os.path.realpath(program)) == os.path.dirname(
        os.path.abspath(sys.executable)
    ):
        return
    told, problem = _told_by([program, "--version"])
    if not problem and told.split()[-1:] != [__version__]:
        message = f"{program} is {told}, this is {__version__}"
        yield Check("PATH", ok=False, message=message, hint="update the one that is older, or take it off the PATH")


def _version_run_by(interpreter: str, code: str) -> tuple[str, str]:
    """The version of the package that an interpreter finds after some code, or what went wrong."""
    return _told_by([interpreter, "-I", "-S", "-c", f"{code};import unified_state;print(unified_state.__version__)"])


def _told_by(command: list[str]) -> tuple[str, str]:
    """What a program prints, or what went wrong."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    problem = (done.stderr.strip().splitlines() or ["no message"])[-1] if done.returncode else ""
    return done.stdout.strip(), problem


def _listed(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

"""Checks of the hooks: whether the settings, the plugin or nothing runs them, whether they start, and with which
program.

A program of another version is a problem if the client or the agent would start it. The older version may refuse
records of the newer one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from unified_state.errors import UnifiedStateError
from unified_state.hosts.install.claude_settings import (
    PLUGIN,
    config_folder,
    is_enabled,
    known_program,
    settings_files,
)
from unified_state.hosts.install.hook_launcher import called_program
from unified_state.hosts.install.hook_table import (
    archives_in,
    is_output_handler,
    is_tool_handler,
    our_handlers,
    starts,
)
from unified_state.hosts.install.install_host import called_programs, installed_hosts
from unified_state.hosts.install.settings_edit import read_settings
from unified_state.lib.files import lies_in
from unified_state.lib.package import PACKAGE_ROOT, __version__
from unified_state.lib.shell.search_path import find_program
from unified_state.model.check import Check, bad, good
from unified_state.project.find_repository import find_repository

_AGAIN = "run `unified-state install` again"
_SECONDS = 30  # timeout of a program's version query


def check_hooks(project: str, data_dir: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield the checks for a client that starts in `project`, where commands keep their data in `data_dir`."""
    found, enabled = [], is_enabled(project, environ)
    calls = set()
    for scope, path in settings_files(project, environ):
        try:
            settings = read_settings(path)
        except UnifiedStateError as error:
            yield bad(f"hooks ({scope})", error.message, error.hint)
            continue
        handlers = our_handlers(settings)
        if handlers:
            if not all(map(is_tool_handler, handlers)):
                found.append(scope)
                # Handlers of tools and outputs may be in one scope only.
                calls.add(str([one for one in handlers if not (is_tool_handler(one) or is_output_handler(one))]))
            yield _check_settings(f"hooks ({scope})", path, handlers, data_dir, project)
    if len(calls) > 1:  # the client runs equal handlers once
        told = f"those of the scopes {' and '.join(found)} call different programs, so that each event is handled twice"
        yield bad("hooks", told, "take one out: `unified-state uninstall --scope …`")
    if enabled:
        yield _check_plugin(environ, beside=found)
    hosts = list(_check_hosts(project, environ))
    yield from hosts
    if not found and not enabled and not hosts:
        yield bad("hooks", "not installed", "run `unified-state install`")
    yield from _check_path(project, environ)


def _check_hosts(project: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """Check that the programs exist which the hooks in other hosts' files call."""
    for host, path in installed_hosts(project, environ):
        name = f"hooks ({host.name})"
        try:
            gone = [program for program in called_programs(host, path) if not os.access(program, os.X_OK)]
        except UnifiedStateError as error:
            yield bad(name, error.message, error.hint)
            continue
        tried = f"run with {host.tried}" if host.tried else f"written after its documents, never run with {host.title}"
        if gone:
            hint = f"run `unified-state install --host {host.name}` again"
            yield bad(name, f"{gone[0]} in {path} is no program any more", hint)
        else:
            yield good(name, f"in {path}; {tried}")


def _check_settings(name: str, path: str, handlers: list[dict[str, Any]], data_dir: str, project: str) -> Check:
    """Check that the hooks' interpreter exists and finds the package, and that hooks and commands use the same
    archive.
    """
    for handler in handlers:
        if not starts(handler):
            return bad(name, f"{handler.get('command')} in {path} is no program any more", _AGAIN)
    program = called_program(handlers[0])
    if program is None or not _may_be_tried(*program, project):
        told = (
            f"the hooks in {path} were not tried: `install` writes no such handler, or it calls a file of the project"
        )
        return bad(name, told, f"look at the file; to replace them, {_AGAIN}")
    interpreter, root = program
    version, problem = _version_run_by(interpreter, root, "import unified_state.interfaces.hook")
    elsewhere = next((folder for folder in map(archives_in, handlers) if folder != data_dir), None)
    if problem:
        told = f"the hooks in {path} do not start: {problem}"
    elif version != __version__:
        told = f"the hooks in {path} run unified-state {version}, this is {__version__}"
    elif elsewhere is not None:
        told = f"the hooks in {path} archive in {elsewhere}, but commands look in {data_dir}"
    else:
        return good(name, f"{len(handlers)} handlers in {path}")
    return bad(name, told, _AGAIN)


def _may_be_tried(interpreter: str, root: str, project: str) -> bool:
    """Return whether a handler calls this program, or one outside the project, whose settings may be a stranger's."""
    if (interpreter, root) == (sys.executable, PACKAGE_ROOT):
        return True
    worktree = find_repository(project).worktree
    return all(
        os.path.isabs(path) and not lies_in(spelling, worktree)
        for path in (interpreter, root)
        for spelling in (os.path.normpath(path), os.path.realpath(path))
    )


def _check_plugin(environ: Mapping[str, str], *, beside: list[str]) -> Check:
    """Check which program the plugin starts, and whether it leaves the events to the hooks of the settings."""
    data = os.path.join(config_folder(environ), "plugins", "data")
    names = sorted(os.listdir(data)) if os.path.isdir(data) else []
    folders = [os.path.join(data, name) for name in names if name.startswith(f"{PLUGIN}-")]
    known = next(filter(None, map(known_program, folders)), None)
    work = f"enabled, and {f'leaves the work to the hooks ({beside[0]})' if beside else 'runs the hooks'}"
    interpreter, root = known or ("", "")
    version, problem = _version_run_by(interpreter, root) if known else ("", "none")
    if problem:
        return good("plugin", f"{work}; it looks for a program when a session starts")
    if version != __version__:
        told = f"{work}; it starts unified-state {version} of {root}, this is {__version__}"
        return bad("plugin", told, "update the one that is older")
    return good("plugin", f"{work}; it starts {root}")


def _check_path(project: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """Check that the agent's commands have this version too. A program of the project is not run for that."""
    program = find_program(PLUGIN, environ, outside=find_repository(project).worktree)
    own = os.path.dirname(os.path.abspath(sys.executable))
    if program is None or os.path.dirname(os.path.realpath(program)) == own:
        return
    told, problem = _told_by([program, "--version"])
    if not problem and told.split()[-1:] != [__version__]:
        hint = "update the one that is older, or take it off the PATH"
        yield bad("PATH", f"{program} is {told}, this is {__version__}", hint)


def _version_run_by(interpreter: str, root: str, code: str = "pass") -> tuple[str, str]:
    """Return the version of the package that an interpreter finds in `root` and the problem or "", after some code."""
    look = f"import sys;sys.path.append({root!r});{code};import unified_state;print(unified_state.__version__)"
    return _told_by([interpreter, "-I", "-S", "-c", look])


def _told_by(command: list[str]) -> tuple[str, str]:
    """Return the output of a program, and its problem or ""."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    problem = (done.stderr.strip().splitlines() or ["no message"])[-1] if done.returncode else ""
    return done.stdout.strip(), problem

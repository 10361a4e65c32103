"""Checks of the hooks: whether the settings, the plugin or nothing runs them, whether their program is there, and of
which version it is.

A program of another version is a problem, since the older one may refuse records of the newer. No program is started
for that: settings of a project may be a stranger's.
"""

from __future__ import annotations

import os
import re
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
from unified_state.lib.package import __version__
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.model.check import Check, bad, good

_AGAIN = "run `unified-state install` again"
_VERSION = re.compile(rb'^__version__ = "([^"]+)"', re.MULTILINE)


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
            yield _check_settings(f"hooks ({scope})", path, handlers, data_dir)
    if len(calls) > 1:  # the client runs equal handlers once
        told = f"those of the scopes {' and '.join(found)} call different programs, so that each event is handled twice"
        yield bad("hooks", told, "take one out: `unified-state uninstall --scope …`")
    if enabled:
        yield _check_plugin(environ, beside=found)
    hosts = list(_check_hosts(project, environ))
    yield from hosts
    if not found and not enabled and not hosts:
        yield bad("hooks", "not installed", "run `unified-state install`")


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


def _check_settings(name: str, path: str, handlers: list[dict[str, Any]], data_dir: str) -> Check:
    """Check that the hooks' program is there, and that hooks and commands have the same version and archive."""
    for handler in handlers:
        if not starts(handler):
            return bad(name, f"{handler.get('command')} in {path} is no program any more", _AGAIN)
    program = called_program(handlers[0])
    if program is None:
        told = f"the hooks in {path} call what `install` does not write"
        return bad(name, told, f"look at the file; to replace them, {_AGAIN}")
    version = _version_in(program[1])
    elsewhere = next((folder for folder in map(archives_in, handlers) if folder != data_dir), None)
    if not version:
        told = f"the hooks in {path} do not start: {program[1]} has no unified-state any more"
    elif version != __version__:
        told = f"the hooks in {path} run unified-state {version}, this is {__version__}"
    elif elsewhere is not None:
        told = f"the hooks in {path} archive in {elsewhere}, but commands look in {data_dir}"
    else:
        return good(name, f"{len(handlers)} handlers in {path}")
    return bad(name, told, _AGAIN)


def _check_plugin(environ: Mapping[str, str], *, beside: list[str]) -> Check:
    """Check which program the plugin starts, and whether it leaves the events to the hooks of the settings."""
    data = os.path.join(config_folder(environ), "plugins", "data")
    names = sorted(os.listdir(data)) if os.path.isdir(data) else []
    folders = [os.path.join(data, name) for name in names if name.startswith(f"{PLUGIN}-")]
    known = next(filter(None, map(known_program, folders)), None)
    work = f"enabled, and {f'leaves the work to the hooks ({beside[0]})' if beside else 'runs the hooks'}"
    root = known[1] if known else ""
    version = _version_in(root)
    if not version:
        return good("plugin", f"{work}; it looks for a program when a session starts")
    if version != __version__:
        told = f"{work}; it starts unified-state {version} of {root}, this is {__version__}"
        return bad("plugin", told, "update the one that is older")
    return good("plugin", f"{work}; it starts {root}")


def _version_in(root: str) -> str:
    """Return the version of the package in a folder; "" if there is none."""
    try:
        found = _VERSION.search(read_regular(os.path.join(root, "unified_state", "lib", "package.py"), SMALL_FILE))
    except (OSError, ValueError):  # ValueError: not a valid path on any file system
        return ""
    return found[1].decode() if found else ""

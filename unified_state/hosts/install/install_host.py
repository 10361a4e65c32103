"""Install our hooks into hosts other than Claude Code, and remove them.

Only our own entries are added and removed. A file that is not plain JSON is refused, because
a host may allow comments that an edit would lose. Files that contain only our entries are written whole.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from unified_state.errors import StorageError, UsageError
from unified_state.hosts.install.hook_launcher import launcher_path, write_launcher
from unified_state.hosts.install.hook_table import LAUNCHER
from unified_state.hosts.install.install_claude_code import InstallResult
from unified_state.hosts.install.settings_edit import (
    Settings,
    append_entries,
    edit_settings,
    file_behind,
    laid_out,
    read_settings,
    without_handlers,
)
from unified_state.hosts.transcripts.rules.hosts import COMMANDS, GROUPS, HOSTS, PLUGIN, SHELL_LINES, Host
from unified_state.lib.files import remove_if_empty, write_atomically
from unified_state.lib.package import package_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.model.hook_event import HOST_WORD, TIMEOUTS
from unified_state.settings import default_data_dir

_AT_THE_END = 3  # timeout in seconds of a hook at the end of a session; Codex allows no more
_VERSIONED = (SHELL_LINES, COMMANDS)  # layouts whose files begin with the version of their format
_INNER_FOLDERS = ("hooks", "plugins")  # subfolders of a host's folder that may exist only for our file
_PLUGIN_ASSET = "opencode.js"


def host_file(host: Host, scope: str, worktree: str, environ: Mapping[str, str]) -> str:
    """Return the file of a scope: in the worktree, or for `user` in the home folder or the folder that the host's
    variable names.
    """
    if scope != "user":
        return os.path.join(worktree, host.project_file)
    folder, name = environ.get(host.user_folder_variable), host.user_file or host.project_file
    return os.path.join(folder, os.path.basename(name)) if folder else os.path.join(os.path.expanduser("~"), name)


def install_host(host: Host, path: str, data_dir: str) -> InstallResult:
    """Add our hooks and replace those of an earlier version."""
    write_launcher()

    def put(settings: Settings) -> Settings:
        settings = without_handlers(settings, _is_ours) or ({"version": 1} if host.layout in _VERSIONED else {})
        for event in host.events:
            settings = append_entries(settings, ("hooks", event), [_entry(host, event, data_dir)])
        return settings

    if not host.own_file:
        return InstallResult(path, edit_settings(path, put))
    text = _plugin(host, data_dir) if host.layout == PLUGIN else laid_out(put({}), "{}\n")
    changed = _read_own(path) != text
    if changed:
        write_atomically(file_behind(path), text.encode())
    return InstallResult(path, changed)


def uninstall_host(host: Host, path: str) -> InstallResult:
    """Remove our entries. A file with nothing else is deleted."""
    if not host.own_file:
        changed = edit_settings(path, lambda settings: without_handlers(settings, _is_ours))
    elif changed := _read_own(path) is not None:
        os.unlink(file_behind(path))
    folder = os.path.dirname(path)
    for _ in range(2 if changed and not os.path.exists(path) else 0):  # folders that contained only our file
        name = os.path.basename(folder)
        if not (name.startswith(".") or name in _INNER_FOLDERS) or not remove_if_empty(folder):
            break
        folder = os.path.dirname(folder)
    return InstallResult(path, changed)


def installed_hosts(worktree: str, environ: Mapping[str, str]) -> Iterator[tuple[Host, str]]:
    """Yield the hosts whose files contain our hooks, each with the file. Unreadable files are skipped."""
    for host in HOSTS.values():
        for scope in ("project", "user"):
            path = host_file(host, scope, worktree, environ)
            try:
                text = read_regular(path, LARGE_FILE).decode("utf-8", "replace")
            except OSError:
                continue  # most hosts are not installed
            if LAUNCHER in text and (f" {HOST_WORD} {host.name} " in text or f'"{HOST_WORD}", "{host.name}"' in text):
                yield host, path


def called_programs(host: Host, path: str) -> list[str]:
    """Return the programs that our hooks in a host's file call. Raises UnifiedStateError if the file is damaged."""
    if host.layout == PLUGIN:
        line = next(line for line in (_read_own(path) or "").splitlines() if LAUNCHER in line)
        return [str(json.loads(line[line.index("[") : line.rindex("]") + 1])[0])]
    lines = _shell_lines(read_settings(path))
    return sorted({shlex.split(line)[0] for line in lines})


def _shell_lines(value: Any) -> Iterator[str]:
    if isinstance(value, str) and LAUNCHER in value:
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _shell_lines(inner)


def _words(host: Host) -> list[str]:
    return [launcher_path(), HOST_WORD, host.name]


def _elsewhere(data_dir: str) -> list[str]:
    return [] if data_dir == default_data_dir() else [data_dir]


def _entry(host: Host, event: str, data_dir: str) -> dict[str, Any]:
    """Return our entry for an event's list."""
    ours = host.events[event]
    timeout = (_AT_THE_END if ours == "SessionEnd" else TIMEOUTS[ours]) * host.timeout_unit
    line = shlex.join([*_words(host), event, *_elsewhere(data_dir)])
    if host.layout == GROUPS:
        return {"hooks": [{"type": "command", "command": line, "timeout": timeout, **host.options}]}
    if host.layout == SHELL_LINES:
        return {"type": "command", "bash": line, "timeoutSec": timeout}
    return {"command": line, "timeout": timeout}


def _is_ours(handler: Any) -> bool:
    """Return whether a handler is ours."""
    return any(_shell_lines(handler))


def _plugin(host: Host, data_dir: str) -> str:
    """Return the JavaScript plugin with which a host calls our program."""
    text = read_regular(package_path("hosts", "install", _PLUGIN_ASSET), LARGE_FILE).decode()
    return text.replace("[/* the hook */]", json.dumps(_words(host))).replace(
        "[/* its last arguments */]", json.dumps(_elsewhere(data_dir))
    )


def _read_own(path: str) -> str | None:
    """Return a file that only we write, or None if there is none. Raises UsageError if the file is not ours."""
    try:
        text = read_regular(path, LARGE_FILE).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise StorageError(message, "nothing was changed") from error
    if LAUNCHER not in text:
        message = f"{path} is there, and not from us"
        raise UsageError(message, "nothing was changed; move the file away and try again")
    return text

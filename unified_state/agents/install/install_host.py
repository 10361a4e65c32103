"""Installation into other hosts: our hooks in the file of a host, and out again.

As with Claude Code, only our own entries are added and removed, and every other byte stays. A file that is not plain
JSON is refused, since a host may allow comments that we could not keep. Files that are ours alone are written whole.
"""

from __future__ import annotations

import json
import os
import shlex

from unified_state.agents.install.hook_interpreter import hook_interpreter
from unified_state.agents.install.hook_table import BEGIN, TIMEOUTS
from unified_state.agents.install.install_claude_code import Installed, read_settings, read_text
from unified_state.agents.install.json_edit import append_entries, parsed, remove_entries
from unified_state.agents.install.owned_files import created_by_us, note_created
from unified_state.agents.transcripts.rules.hosts import COMMANDS, GROUPS, HOSTS, PLUGIN, SHELL_LINES
from unified_state.errors import UsageError
from unified_state.lib.files import remove_if_empty, write_atomically
from unified_state.lib.package import PACKAGE_ROOT, package_path
from unified_state.settings import default_data_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from unified_state.agents.transcripts.rules.hosts import Host

HOST_MODULE = "unified_state.interfaces.host_hook"
_AT_THE_END = 3  # seconds that a hook may take when a session ends; Codex allows no more
_VERSIONED = (SHELL_LINES, COMMANDS)  # layouts whose files begin with the version of their format
_INNER_FOLDERS = ("hooks", "plugins")  # of a host's own, which may be there for our file alone
_PLUGIN_ASSET = "opencode.js"


def host_file(host: Host, scope: str, worktree: str, environ: Mapping[str, str]) -> str:
    """The file of a scope: in the worktree, or for `user` in the user's home or where the host's variable says."""
    if scope != "user":
        return os.path.join(worktree, host.project_file)
    folder = environ.get(host.user_folder_variable) if host.user_folder_variable else None
    if folder:
        return os.path.join(folder, os.path.basename(host.user_file))
    return os.path.join(os.path.expanduser("~"), host.user_file)


def install_host(host: Host, path: str, data_dir: str) -> Installed:
    """Add our hooks; what an earlier version installed is replaced."""
    before = _read_own(path) if host.own_file else read_text(path)
    if host.layout == PLUGIN:
        text = _plugin(host, data_dir)
    else:
        text = '{\n  "version": 1\n}\n' if host.layout in _VERSIONED else "{}\n"
        text = text if before is None or host.own_file else _without_ours(before)
        for event in host.events:
            text = append_entries(text, ("hooks", event), [_entry(host, event, data_dir)])
    if text != before:
        write_atomically(path, text.encode())
    if before is None:
        note_created(data_dir, path)
    return Installed(path, text != before)


def uninstall_host(host: Host, path: str, data_dir: str) -> Installed:
    """Take our entries out again; a file that we made and that holds nothing else goes too."""
    before = _read_own(path) if host.own_file else read_text(path)
    if before is None:
        return Installed(path, changed=False)
    text = "" if host.own_file else _without_ours(before)
    is_empty = host.own_file or parsed(text) in ({}, {"version": 1})
    if is_empty and (host.own_file or path in created_by_us(data_dir)):
        os.unlink(path)
        _remove_empty_folders(os.path.dirname(path))
    elif text != before:
        write_atomically(path, text.encode())
    return Installed(path, text != before)


def installed_hosts(worktree: str, environ: Mapping[str, str]) -> Iterator[tuple[Host, str]]:
    """The hosts whose files hold hooks of ours, each with the file. Files that cannot be read hold none."""
    for host in HOSTS.values():
        for scope in ("project", "user"):
            path = host_file(host, scope, worktree, environ)
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                continue  # most hosts are not here
            if HOST_MODULE in text and (f"--host {host.name} " in text or f'"--host", "{host.name}"' in text):
                yield host, path


def called_programs(host: Host, path: str) -> list[str]:
    """The programs that our hooks in a host's file call. Raises UnifiedStateError where the file is damaged."""
    if host.layout == PLUGIN:
        line = next(line for line in (_read_own(path) or "").splitlines() if HOST_MODULE in line)
        return [str(json.loads(line[line.index("[") : line.rindex("]") + 1])[0])]
    lines = _shell_lines(read_settings(path))
    return sorted({shlex.split(line)[0] for line in lines})


def _shell_lines(value: Any) -> Iterator[str]:
    if isinstance(value, str) and HOST_MODULE in value:
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _shell_lines(inner)


def _words(host: Host) -> list[str]:
    code = f"{BEGIN}sys.path.append({PACKAGE_ROOT!r});from {HOST_MODULE} import main;main()"
    return [hook_interpreter(), "-I", "-S", "-c", code, "--host", host.name]


def _elsewhere(data_dir: str) -> list[str]:
    return [] if data_dir == default_data_dir() else [data_dir]


def _entry(host: Host, event: str, data_dir: str) -> dict[str, Any]:
    """One entry of an event's list."""
    ours = host.events[event]
    timeout = (_AT_THE_END if ours == "SessionEnd" else TIMEOUTS[ours]) * host.timeout_unit
    line = shlex.join([*_words(host), event, *_elsewhere(data_dir)])
    if host.layout == GROUPS:
        return {"hooks": [{"type": "command", "command": line, "timeout": timeout, **host.options}]}
    if host.layout == SHELL_LINES:
        return {"type": "command", "bash": line, "timeoutSec": timeout}
    return {"command": line, "timeout": timeout}


def _is_ours(entry: Any) -> bool:
    """Whether an entry is ours, or a group of none but ours."""
    handlers = entry.get("hooks", [entry]) if isinstance(entry, dict) else []
    return bool(handlers) and isinstance(handlers, list) and all(any(_shell_lines(handler)) for handler in handlers)


def _without_ours(text: str) -> str:
    hooks = parsed(text).get("hooks")
    for event in list(hooks) if isinstance(hooks, dict) else []:
        text = remove_entries(text, ("hooks", event), _is_ours)
    return text


def _plugin(host: Host, data_dir: str) -> str:
    """The program by which a host that runs JavaScript calls ours."""
    with open(package_path("agents", "install", _PLUGIN_ASSET), encoding="utf-8") as file:
        text = file.read()
    return text.replace("[/* the hook */]", json.dumps(_words(host))).replace(
        "[/* its last arguments */]", json.dumps(_elsewhere(data_dir))
    )


def _read_own(path: str) -> str | None:
    """A file that nobody but us should have written; None if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        return None
    if HOST_MODULE not in text:
        message = f"{path} is there, and not from us"
        raise UsageError(message, "nothing was changed; move the file away and try again")
    return text


def _remove_empty_folders(folder: str) -> None:
    """Remove the folders that only our file lay in, two at most."""
    for _ in range(2):
        name = os.path.basename(folder)
        is_a_hosts = name.startswith(".") or name in _INNER_FOLDERS
        if not is_a_hosts or not remove_if_empty(folder):
            return
        folder = os.path.dirname(folder)

"""The client's settings files, our plugin in them, and the hooks of ours that the client runs.

A file with invalid JSON counts as empty here because the client ignores it. Code that changes a file reads it strictly
(`settings_edit.py`). The client runs the hooks of its settings and those of a plugin side by side. If both are ours,
the plugin's hook does nothing for that event. It checks that the client really runs the other one: the settings file is
read and valid, and the program exists.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from unified_state.errors import StorageError
from unified_state.hosts.install.hook_table import LAUNCHER, our_handlers, starts
from unified_state.lib.files import write_note
from unified_state.lib.json_text import parse_json
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, open_regular, read_regular
from unified_state.project.find_repository import find_repository


def config_folder(environ: Mapping[str, str]) -> str:
    """Return the client's configuration folder."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")


def transcripts_folder(project: str, environ: Mapping[str, str]) -> str:
    """Return the folder in which the client keeps the transcripts of sessions that start in a folder."""
    name = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in project)
    return os.path.join(config_folder(environ), "projects", name)


def settings_files(project: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings files that the client reads when it starts in a folder, each with its scope.

    The files of the scope `local` are also read from the top of the worktree, and from the main worktree of a linked
    one.
    """
    yield "user", os.path.join(config_folder(environ), "settings.json")
    yield "project", os.path.join(project, ".claude", "settings.json")
    repository = find_repository(project)
    main = os.path.dirname(repository.common_dir) if repository.common_dir else repository.worktree
    for folder in dict.fromkeys((project, repository.worktree, main)):
        yield "local", os.path.join(folder, ".claude", "settings.local.json")


def settings_in(path: str, *words: str) -> Any:
    """Return the value of a settings file, or None if it cannot be read or contains none of the `words`."""
    try:
        text = read_regular(path, LARGE_FILE).decode()
    except (OSError, ValueError):
        return None
    return parsed_settings(text) if not words or any(word in text for word in words) else None


def parsed_settings(text: str) -> Any:
    """Return the value of a settings text, or None if it is not valid JSON."""
    try:
        return parse_json(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def with_compaction_settings(model: str, project: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with what the client's settings say of compactions. The most specific file counts, and the
    environment itself before all.
    """
    found: dict[str, str] = {}
    for _, path in settings_files(project, environ):
        settings = settings_in(path, "utoCompact", "COMPACT")
        if not isinstance(settings, dict):
            continue
        own = [values for name, values in _object(settings, "modelSettings").items() if name in model]
        for values in (settings, *own):
            window = values.get("autoCompactWindow") if isinstance(values, dict) else None
            found |= {_WINDOW: str(window)} if isinstance(window, int) else {}
        found |= {name: str(value) for name, value in _object(settings, "env").items()}
    return {**found, **environ}


def _object(settings: dict[str, Any], name: str) -> dict[str, Any]:
    value = settings.get(name)
    return value if isinstance(value, dict) else {}


_NO_HOOKS = "disableAllHooks"
_WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
PLUGIN = "unified-state"
RECORD = "program"
_FOLDER = "CLAUDE_PLUGIN_DATA"
_SOURCES = "--setting-sources"


def data_folder(environ: Mapping[str, str]) -> str:
    """Return the folder that the client keeps for the plugin across updates, or "" if the environment does not name
    one.
    """
    return environ.get(_FOLDER, "")


def note_program(folder: str) -> None:
    """Record the location of this program: its interpreter, the folder of its package, and the script that was started.

    If the record cannot be written, the next hook searches for the program again. That is slower and gives the same
    result.
    """
    if not folder:
        return
    lines = (sys.executable, PACKAGE_ROOT, os.path.abspath(sys.argv[0]), "")
    try:
        os.makedirs(folder, exist_ok=True)
        write_note(os.path.join(folder, RECORD), os.fsencode("\n".join(lines)))
    except (OSError, StorageError):
        return


def known_program(folder: str) -> tuple[str, str] | None:
    """Return the interpreter and the folder of the package that `note_program` recorded, or None without a record."""
    try:
        content = read_regular(os.path.join(folder, RECORD), SMALL_FILE)
        interpreter, root, *_ = os.fsdecode(content).split("\n")
    except (OSError, ValueError):
        return None
    return interpreter, root


def settings_run(event: str, project: str, environ: Mapping[str, str]) -> bool:
    """Return whether the client runs our hook for an event because its settings contain one."""
    sources = _setting_sources(environ.get("CLAUDE_PID", ""))
    return any(
        _runs(path, event) for scope, path in settings_files(project, environ) if sources is None or scope in sources
    )


def disabling_file(project: str, environ: Mapping[str, str]) -> str:
    """Return the settings file by which a client that starts in a folder runs no hooks, or ""."""
    disabling = ""
    for _, path in settings_files(project, environ):
        settings = settings_in(path, _NO_HOOKS)
        if isinstance(settings, dict) and _NO_HOOKS in settings:
            disabling = path if settings[_NO_HOOKS] is True else ""
    return disabling


def is_enabled(project: str, environ: Mapping[str, str]) -> bool:
    """Return whether the plugin is enabled for a client that starts in a folder. The most specific settings file
    counts.
    """
    enabled = False
    for _, path in settings_files(project, environ):
        switch = enables(settings_in(path, f'"{PLUGIN}@'))
        enabled = enabled if switch is None else switch
    return enabled


def enables(settings: Any) -> bool | None:
    """Return whether settings enable the plugin, or None if they do not mention it."""
    plugins = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    switches = plugins.items() if isinstance(plugins, dict) else ()
    ours = [bool(on) for name, on in switches if name.startswith(f"{PLUGIN}@")]
    return any(ours) if ours else None


def _runs(path: str, event: str) -> bool:
    """Return whether a settings file has our handler for an event and the handler's program exists."""
    return any(map(starts, our_handlers(settings_in(path, LAUNCHER), event)))


def _setting_sources(pid: str) -> list[str] | None:
    """Return the scopes to which the client's command line restricts its settings.

    Returns None if there is no restriction, or if the system does not show the command line.
    """
    try:
        with open_regular(f"/proc/{int(pid)}/cmdline") as file:
            words = file.read(SMALL_FILE).decode("utf-8", "replace").split("\0")
    except (OSError, ValueError):
        return None
    for word, following in pairwise(words):
        if word == _SOURCES:
            return following.split(",")
        if word.startswith(f"{_SOURCES}="):
            return word.partition("=")[2].split(",")
    return None

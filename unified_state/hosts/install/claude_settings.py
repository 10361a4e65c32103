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
from unified_state.hosts.install.hook_table import our_handlers, starts
from unified_state.hosts.transcripts.transcript_lines import object_in
from unified_state.lib.files import write_note
from unified_state.lib.json_text import parse_object
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


def settings_in(path: str) -> dict[str, Any]:
    """Return the settings of a file, or none if the client cannot read it."""
    try:
        return parsed_settings(read_regular(path, LARGE_FILE).decode())
    except (OSError, ValueError):
        return {}


def parsed_settings(text: str) -> dict[str, Any]:
    """Return the settings of a text, or none if it is not a JSON object."""
    return parse_object(text.removeprefix("\ufeff")) or {}


def _all_settings(project: str, environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the files that the client reads, each with its settings. A later one is more specific."""
    return ((path, settings_in(path)) for _, path in settings_files(project, environ))


def with_compaction_settings(model: str, project: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with what the client's settings say of compactions. The most specific file counts, and the
    environment itself before all.
    """
    found: dict[str, str] = {}
    for _, settings in _all_settings(project, environ):
        own = [values for name, values in object_in(settings, "modelSettings").items() if name in model]
        for values in (settings, *own):
            window = values.get("autoCompactWindow") if isinstance(values, dict) else None
            found |= {_WINDOW: str(window)} if isinstance(window, int) else {}
        found |= {name: str(value) for name, value in object_in(settings, "env").items()}
    return {**found, **environ}


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
    """Return whether the client runs our hook for an event because settings that it reads contain one whose program
    exists.
    """
    sources, files = _setting_sources(environ.get("CLAUDE_PID", "")), settings_files(project, environ)
    read = (settings_in(path) for scope, path in files if sources is None or scope in sources)
    return any(starts(handler) for settings in read for handler in our_handlers(settings, event))


def disabling_file(project: str, environ: Mapping[str, str]) -> str:
    """Return the settings file by which a client that starts in a folder runs no hooks, or ""."""
    found = [(path, settings) for path, settings in _all_settings(project, environ) if _NO_HOOKS in settings]
    return found[-1][0] if found and found[-1][1][_NO_HOOKS] is True else ""


def is_enabled(project: str, environ: Mapping[str, str]) -> bool:
    """Return whether the plugin is enabled for a client that starts in a folder. The most specific settings file
    counts.
    """
    switches = [enables(settings) for _, settings in _all_settings(project, environ)]
    return bool(next((switch for switch in reversed(switches) if switch is not None), False))


def enables(settings: dict[str, Any]) -> bool | None:
    """Return whether settings enable the plugin, or None if they do not mention it."""
    plugins = object_in(settings, "enabledPlugins")
    ours = [bool(on) for name, on in plugins.items() if name.startswith(f"{PLUGIN}@")]
    return any(ours) if ours else None


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

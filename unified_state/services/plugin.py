"""The plugin beside the program: where the plugin finds it, and who does the work where `install` was used too.

The client runs the hooks of its settings and those of a plugin side by side. Where both are ours the plugin's yield,
event by event, but only to handlers that the client really runs: in a file that it reads, valid to it, with a program
that exists.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

from unified_state.assets import PACKAGE_ROOT
from unified_state.errors import StorageError
from unified_state.interpreter import parse_json
from unified_state.services.hook_table import HOOK_MODULE, our_handlers
from unified_state.sources.repository import find_repository
from unified_state.storage.atomic_file import write_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

PLUGIN = "unified-state"
RECORD = "program"
_FOLDER = "CLAUDE_PLUGIN_DATA"
_SOURCES = "--setting-sources"


def data_folder(environ: Mapping[str, str]) -> str:
    """The folder that the client keeps for the plugin through its updates; empty where it told none."""
    return environ.get(_FOLDER, "")


def note_program(folder: str) -> None:
    """Write down where this program lies: its interpreter, the folder that holds its package, what was started. Where
    that cannot be written the next hook looks for the program again, which takes longer and does the same.
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
    """Interpreter and folder of the package, as `note_program` wrote them; None where it did not."""
    try:
        with open(os.path.join(folder, RECORD), encoding="utf-8", errors="surrogateescape") as file:
            interpreter, root, *_ = file.read().split("\n")
    except (OSError, ValueError):
        return None
    return interpreter, root


def settings_run(event: str, project: str, environ: Mapping[str, str]) -> bool:
    """Whether the client runs a hook of ours for an event because its settings say so."""
    sources = _setting_sources(environ.get("CLAUDE_PID", ""))
    return any(
        _runs(path, event) for scope, path in settings_files(project, environ) if sources is None or scope in sources
    )


def settings_files(project: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The settings files that the client reads when it starts in a folder, each with its scope.

    Those of the scope `local` are also read from the top of the worktree, and from the main worktree of a linked one.
    """
    yield "user", os.path.join(config_folder(environ), "settings.json")
    yield "project", os.path.join(project, ".claude", "settings.json")
    repository = find_repository(project, ".claude")
    main = os.path.dirname(repository.common_dir) if repository.common_dir else repository.worktree
    for folder in dict.fromkeys((project, repository.worktree, main)):
        yield "local", os.path.join(folder, ".claude", "settings.local.json")


def config_folder(environ: Mapping[str, str]) -> str:
    """The client's own folder."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")


def is_enabled(project: str, environ: Mapping[str, str]) -> bool:
    """Whether the plugin is enabled where the client starts in a folder; of its settings the most specific counts."""
    enabled = False
    for _, path in settings_files(project, environ):
        settings = _read_settings(path, f'"{PLUGIN}@')
        plugins = settings.get("enabledPlugins") if isinstance(settings, dict) else None
        for name, on in plugins.items() if isinstance(plugins, dict) else ():
            if name.startswith(f"{PLUGIN}@"):
                enabled = bool(on)
    return enabled


def _runs(path: str, event: str) -> bool:
    """Whether a settings file has a handler of ours for an event, with a program that is there."""
    commands = [str(handler.get("command")) for handler in our_handlers(_read_settings(path, HOOK_MODULE), event)]
    return any("\0" not in command and os.access(command, os.X_OK) for command in commands)


def _read_settings(path: str, word: str) -> Any:
    """A settings file that has a certain word. The client ignores a file that is not valid JSON as a whole."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return parse_json(text.removeprefix("\ufeff")) if word in text else None
    except (OSError, ValueError, RecursionError):
        return None


def _setting_sources(pid: str) -> list[str] | None:
    """The scopes that the client's own command line restricts its settings to; None where it does not, or where the
    system does not tell.
    """
    try:
        with open(f"/proc/{int(pid)}/cmdline", encoding="utf-8", errors="replace") as file:
            words = file.read().split("\0")
    except (OSError, ValueError):
        return None
    for word, following in pairwise(words):
        if word == _SOURCES:
            return following.split(",")
        if word.startswith(f"{_SOURCES}="):
            return word.partition("=")[2].split(",")
    return None

"""The client's settings files and our plugin in them: where they lie, and which hooks of ours the client runs.

A file that the client ignores, since it is not valid JSON, counts as empty here; code that changes one reads it
strictly (`settings_edit.py`). The client runs the hooks of its settings and those of a plugin side by side. Where both
are ours the plugin's yield, event by event, but only to handlers that the client really runs: in a file that it reads,
valid to it, with a program that exists.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

from unified_state.agents.install.hook_table import HOOK_MODULE, hook_interpreter, our_handlers
from unified_state.errors import StorageError
from unified_state.lib.files import write_note
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.stdlib import parse_json
from unified_state.memory.repository.find_repository import find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def config_folder(environ: Mapping[str, str]) -> str:
    """The client's own folder."""
    return environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")


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


def settings_in(path: str, word: str = "") -> Any:
    """The value of a settings file; None where it cannot be read, or does not contain `word`."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    return parsed_settings(text) if word in text else None


def parsed_settings(text: str) -> Any:
    """The value of settings; None where they are not valid JSON."""
    try:
        return parse_json(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


PLUGIN = "unified-state"
RECORD = "program"
_FOLDER = "CLAUDE_PLUGIN_DATA"
_SOURCES = "--setting-sources"


def data_folder(environ: Mapping[str, str]) -> str:
    """The folder that the client keeps for the plugin through updates; empty where the environment names none."""
    return environ.get(_FOLDER, "")


def note_program(folder: str) -> None:
    """Write down where this program lies: its interpreter, the folder that holds its package, what was started. Where
    that cannot be written the next hook looks for the program again, which takes longer and does the same.
    """
    if not folder:
        return
    lines = (hook_interpreter(), PACKAGE_ROOT, os.path.abspath(sys.argv[0]), "")
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


def is_enabled(project: str, environ: Mapping[str, str]) -> bool:
    """Whether the plugin is enabled where the client starts in a folder; of its settings the most specific counts."""
    enabled = False
    for _, path in settings_files(project, environ):
        switch = enables(settings_in(path, f'"{PLUGIN}@'))
        enabled = enabled if switch is None else switch
    return enabled


def enables(settings: Any) -> bool | None:
    """Whether settings enable the plugin; None where they do not mention it."""
    plugins = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    switches = plugins.items() if isinstance(plugins, dict) else ()
    ours = [bool(on) for name, on in switches if name.startswith(f"{PLUGIN}@")]
    return any(ours) if ours else None


def _runs(path: str, event: str) -> bool:
    """Whether a settings file has a handler of ours for an event, with a program that is there."""
    commands = [str(handler.get("command")) for handler in our_handlers(settings_in(path, HOOK_MODULE), event)]
    return any("\0" not in command and os.access(command, os.X_OK) for command in commands)


def _setting_sources(pid: str) -> list[str] | None:
    """The scopes to which the client's command line restricts its settings; None where it does not, or where the system
    does not show the command line.
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

"""Installation: our hooks in the client's settings, and out again.

Only our own entries are added and removed; every other byte of the file stays. Settings that are not valid JSON are
refused. The hooks call the interpreter that runs this by its absolute path.
"""

from __future__ import annotations

import os
import sys

from unified_state.agents.install.claude_settings import config_folder
from unified_state.agents.install.hook_table import (
    OUTPUT_EVENT,
    hook_groups,
    is_our_handler,
    lean_level,
    output_hook_group,
    tool_hook_group,
)
from unified_state.agents.install.json_edit import append_entries, parsed, remove_entries
from unified_state.agents.install.owned_files import created_by_us, note_created
from unified_state.agents.install.status_line_entry import with_status_line, without_status_line
from unified_state.errors import StorageError, UnifiedStateError
from unified_state.lib.files import remove_if_empty, write_atomically
from unified_state.lib.package import asset_path
from unified_state.lib.record import Record
from unified_state.model.constraint import TOOL_EVENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SCOPES = ("local", "project", "user")
READ_ONLY_RULES = tuple(
    f"Bash(unified-state {verb}:*)" for verb in ("recall", "search", "why", "status", "load", "age", "restore")
) + tuple(f"Bash(unified-state {kind} list:*)" for kind in ("decision", "constraint", "question", "evidence"))
COMMAND_FILE = "context-compact.md"
LEAN_OFF = "off"


class Installed(Record):
    """What an installation or its removal changed: the settings file, the command file, or nothing; and whether the
    status line is ours now; at which level long outputs are shortened, if they are.
    """

    settings_path: str
    changed: bool
    command_path: str | None = None
    status_line: bool = False
    lean: str | None = None


class Target(Record):
    """Where to install: the settings file of a scope, and the folder of its slash commands."""

    scope: str
    settings_path: str
    commands_folder: str


def target(scope: str, worktree: str, environ: Mapping[str, str]) -> Target:
    """The files of a scope: `local` and `project` in the worktree, `user` in the client's own folder."""
    folder = os.path.join(worktree, ".claude")
    if scope == "user":
        folder = config_folder(environ)
    name = "settings.local.json" if scope == "local" else "settings.json"
    return Target(scope, os.path.join(folder, name), os.path.join(folder, "commands"))


def install(
    place: Target, data_dir: str, *, allow_reading: bool, show_status: bool = False, lean: str | None = None
) -> Installed:
    """Add our hooks and the slash command; what an earlier version installed is replaced. A status line of ours that is
    there stays, and so does the level of lean context where none is given (`LEAN_OFF`: outputs stay as they are).
    """
    before = read_text(place.settings_path)
    had_status, text = without_status_line("{}\n" if before is None else before)
    enforces = _has_tool_hook(text)
    chosen = lean_level(parsed(text)) if lean is None else lean
    level = None if chosen == LEAN_OFF else chosen
    text = _without_our_hooks(text)
    for event, groups in hook_groups(data_dir).items():
        text = append_entries(text, ("hooks", event), groups)
    if enforces:
        text = append_entries(text, ("hooks", TOOL_EVENT), [tool_hook_group(data_dir)])
    if level is not None:
        text = append_entries(text, ("hooks", OUTPUT_EVENT), [output_hook_group(level, data_dir)])
    if allow_reading:
        present = parsed(text).get("permissions", {}).get("allow", [])
        text = append_entries(text, ("permissions", "allow"), [rule for rule in READ_ONLY_RULES if rule not in present])
    shows_status = show_status or had_status
    if shows_status:
        text = with_status_line(text, data_dir)
    if text != before:
        write_atomically(place.settings_path, text.encode())
    if before is None:
        note_created(data_dir, place.settings_path)
    return Installed(place.settings_path, text != before, _install_command(place), shows_status, level)


def uninstall(place: Target, data_dir: str) -> Installed:
    """Take our entries out again; a settings file that we made and that holds nothing else goes too."""
    before = read_text(place.settings_path)
    if before is None:
        return Installed(place.settings_path, changed=False, command_path=_uninstall_command(place))
    text = _without_our_hooks(without_status_line(before)[1])
    if parsed(text) == {} and place.settings_path in created_by_us(data_dir):
        os.unlink(place.settings_path)
    elif text != before:
        write_atomically(place.settings_path, text.encode())
    return Installed(place.settings_path, text != before, _uninstall_command(place))


def put_tool_hook(path: str, data_dir: str, *, wanted: bool) -> bool:
    """Put the hook before tool calls into these settings, or take it out; whether they were made for it."""
    before = read_text(path)
    if before is None and not wanted:
        return False
    text = "{}\n" if before is None else remove_entries(before, ("hooks", TOOL_EVENT), _is_our_group)
    if wanted:
        text = append_entries(text, ("hooks", TOOL_EVENT), [tool_hook_group(data_dir)])
    if parsed(text) == {} and path in created_by_us(data_dir):
        os.unlink(path)
    elif text != before:
        write_atomically(path, text.encode())
    if before is None:
        note_created(data_dir, path)
    return before is None


def read_settings(path: str) -> Any:
    """A client's settings file as JSON, None if there is none. Raises UnifiedStateError where it is no JSON object."""
    text = read_text(path)
    return None if text is None else parsed(text)


def _has_tool_hook(text: str) -> bool:
    groups = parsed(text).get("hooks", {}).get(TOOL_EVENT, [])
    return any(map(_is_our_group, groups))


def _is_our_group(group: Any) -> bool:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(handlers, list) and bool(handlers) and all(map(is_our_handler, handlers))


def _without_our_hooks(text: str) -> str:
    settings = parsed(text)
    hooks = settings.get("hooks")
    for event in list(hooks) if isinstance(hooks, dict) else []:
        text = remove_entries(text, ("hooks", event), _is_our_group)
    return remove_entries(text, ("permissions", "allow"), lambda rule: rule in READ_ONLY_RULES)


def read_text(path: str) -> str | None:
    """A host's settings file as it stands; None if there is none. Raises UnifiedStateError where it is not ours to
    edit.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {error}"
        raise StorageError(message, "nothing was changed") from error
    try:
        settings = parsed(text)
    except (ValueError, RecursionError) as error:
        message = f"{path} is not valid JSON ({error})"
        raise UnifiedStateError(message, "nothing was changed; mend the file and try again") from error
    if not _has_known_shape(settings):
        message = f"{path} has another shape than the client's settings"
        raise UnifiedStateError(
            message, "nothing was changed; `hooks` holds lists by event, `permissions.allow` is a list"
        )
    return text


def _has_known_shape(settings: Any) -> bool:
    if not isinstance(settings, dict):
        return False
    hooks, permissions = settings.get("hooks", {}), settings.get("permissions", {})
    return (
        isinstance(hooks, dict)
        and all(isinstance(groups, list) for groups in hooks.values())
        and isinstance(permissions, dict)
        and isinstance(permissions.get("allow", []), list)
    )


def _install_command(place: Target) -> str | None:
    """The slash command by its bare name; a file of that name that is not ours stays."""
    path = os.path.join(place.commands_folder, COMMAND_FILE)
    ours = _our_command()
    if os.path.exists(path) and not _is_our_command(path):
        return None
    write_atomically(path, ours, 0o644)
    return path


def _uninstall_command(place: Target) -> str | None:
    path = os.path.join(place.commands_folder, COMMAND_FILE)
    if not os.path.exists(path) or not _is_our_command(path):
        return None
    os.unlink(path)
    remove_if_empty(place.commands_folder)
    return path


def _our_command() -> bytes:
    """The slash command, with the absolute path of our program: the client's PATH need not have it."""
    with open(asset_path("commands", COMMAND_FILE), encoding="utf-8") as file:
        text = file.read()
    program = os.path.join(os.path.dirname(sys.executable), "unified-state")
    if os.access(program, os.X_OK):
        text = text.replace("`unified-state ", f"`{program} ").replace("Bash(unified-state ", f"Bash({program} ")
    return text.encode()


def _is_our_command(path: str) -> bool:
    with open(path, encoding="utf-8", errors="replace") as file:
        return "unified-state" in file.read()

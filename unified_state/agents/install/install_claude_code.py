"""Install our hooks into the client's settings, and remove them.

Only our own entries are added and removed. All other bytes of the file stay. Settings that are not valid JSON are
refused. The hooks call the interpreter that runs this code by its absolute path.
"""

from __future__ import annotations

import os
import sys
from functools import partial

from unified_state.agents.install.claude_settings import config_folder
from unified_state.agents.install.hook_table import (
    HOOK_MODULE,
    OUTPUT_EVENT,
    REMINDER_HOOK_MODULE,
    TOOL_HOOK_MODULE,
    calls_only,
    hook_groups,
    lean_level,
    output_hook_group,
    reminder_hook_group,
    reminder_matcher,
    tool_hook_group,
)
from unified_state.agents.install.settings_edit import (
    append_entries,
    parsed,
    read_text,
    remove_entries,
    without_entries,
    write_text,
)
from unified_state.agents.install.status_line_entry import with_status_line, without_status_line
from unified_state.lib.files import remove_if_empty, write_atomically
from unified_state.lib.package import asset_path
from unified_state.lib.record import Record
from unified_state.lib.stdlib import LARGE_FILE, read_regular
from unified_state.model.constraint import TOOL_EVENT
from unified_state.model.item import ALIAS_LETTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SCOPES = ("local", "project", "user")
READ_ONLY_RULES = tuple(
    f"Bash(unified-state {verb}:*)" for verb in ("recall", "search", "why", "status", "load", "age", "restore")
) + tuple(f"Bash(unified-state {kind} list:*)" for kind in ALIAS_LETTERS)
COMMAND_FILE = "context-compact.md"
LEAN_OFF = "off"


class Installed(Record):
    """Result of an installation or removal.

    It has the settings file and whether it changed, the command file if that changed, whether the status line is ours
    now, and the level at which long outputs are shortened.
    """

    settings_path: str
    changed: bool
    command_path: str | None = None
    status_line: bool = False
    lean: str | None = None


class Target(Record):
    """Target of an installation: the settings file of a scope, and the folder of its slash commands."""

    scope: str
    settings_path: str
    commands_folder: str


def target(scope: str, worktree: str, environ: Mapping[str, str]) -> Target:
    """Return the files of a scope: `local` and `project` in the worktree, `user` in the client's configuration
    folder.
    """
    folder = os.path.join(worktree, ".claude")
    if scope == "user":
        folder = config_folder(environ)
    name = "settings.local.json" if scope == "local" else "settings.json"
    return Target(scope, os.path.join(folder, name), os.path.join(folder, "commands"))


def install(
    place: Target, data_dir: str, *, allow_reading: bool, show_status: bool = False, lean: str | None = None
) -> Installed:
    """Add our hooks and the slash command, and replace those of an earlier version.

    Our status line stays if it is installed. The level of lean context also stays if `lean` is None (`LEAN_OFF`:
    outputs are not shortened).
    """
    before = read_text(place.settings_path)
    had_status, text = without_status_line("{}\n" if before is None else before)
    settings = parsed(text)
    enforces = any(calls_only(group, TOOL_HOOK_MODULE) for group in settings.get("hooks", {}).get(TOOL_EVENT, []))
    reminds = reminder_matcher(settings)
    chosen = lean_level(settings) if lean is None else lean
    level = None if chosen == LEAN_OFF else chosen
    text = _without_our_hooks(text)
    groups = hook_groups(data_dir)
    before_tools = [tool_hook_group(data_dir)] if enforces else []
    before_tools += [reminder_hook_group(reminds, data_dir)] if reminds else []
    if before_tools:
        groups[TOOL_EVENT] = before_tools
    if level is not None:
        groups[OUTPUT_EVENT] = [output_hook_group(level, data_dir)]
    for event, entries in groups.items():
        text = append_entries(text, ("hooks", event), entries)
    if allow_reading:
        present = parsed(text).get("permissions", {}).get("allow", [])
        text = append_entries(text, ("permissions", "allow"), [rule for rule in READ_ONLY_RULES if rule not in present])
    shows_status = show_status or had_status
    if shows_status:
        text = with_status_line(text, data_dir)
    changed = write_text(place.settings_path, before, text, data_dir)
    return Installed(place.settings_path, changed, _install_command(place), shows_status, level)


def uninstall(place: Target, data_dir: str) -> Installed:
    """Remove our entries. A settings file that we created and that is otherwise empty is deleted."""
    before, changed = read_text(place.settings_path), False
    if before is not None:
        text = _without_our_hooks(without_status_line(before)[1])
        changed = write_text(place.settings_path, before, text, data_dir, is_empty=parsed(text) == {})
    return Installed(place.settings_path, changed, _uninstall_command(place))


def put_tool_hook(path: str, data_dir: str, *, wanted: bool) -> bool:
    """Add the hook of constraints to these settings, or remove it. Return whether the file was created for it."""
    return _put_group(path, data_dir, TOOL_HOOK_MODULE, tool_hook_group(data_dir) if wanted else None)


def put_reminder_hook(path: str, data_dir: str, matcher: str) -> bool:
    """Add the hook of reminders for the tools of a matcher to these settings, or remove it ("").

    Return whether the file was created for it.
    """
    group = reminder_hook_group(matcher, data_dir) if matcher else None
    return _put_group(path, data_dir, REMINDER_HOOK_MODULE, group)


def _put_group(path: str, data_dir: str, module: str, group: dict[str, Any] | None) -> bool:
    """Replace the entries before tool calls that call a module of ours by one entry, or by none."""
    before = read_text(path)
    if before is None and group is None:
        return False
    is_replaced = partial(calls_only, module=module)
    text = "{}\n" if before is None else remove_entries(before, ("hooks", TOOL_EVENT), is_replaced)
    if group is not None:
        text = append_entries(text, ("hooks", TOOL_EVENT), [group])
    write_text(path, before, text, data_dir, is_empty=parsed(text) == {})
    return before is None


def read_settings(path: str) -> Any:
    """Return a client's settings file as JSON, or None if there is no file. Raises UnifiedStateError if it is not a
    JSON object.
    """
    text = read_text(path)
    return None if text is None else parsed(text)


def _without_our_hooks(text: str) -> str:
    text = without_entries(text, partial(calls_only, module=HOOK_MODULE))
    return remove_entries(text, ("permissions", "allow"), lambda rule: rule in READ_ONLY_RULES)


def _install_command(place: Target) -> str | None:
    """Write the slash command and return its path, or None if another file already has that name."""
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
    """Return the slash command with the absolute path of our program, because the client's PATH may not contain it."""
    text = read_regular(asset_path("commands", COMMAND_FILE), LARGE_FILE).decode()
    program = os.path.join(os.path.dirname(sys.executable), "unified-state")
    if os.access(program, os.X_OK):
        text = text.replace("`unified-state ", f"`{program} ").replace("Bash(unified-state ", f"Bash({program} ")
    return text.encode()


def _is_our_command(path: str) -> bool:
    return b"unified-state" in read_regular(path, LARGE_FILE)

"""Install our hooks into the client's settings, and remove them.

Only our own entries are added and removed. Settings that are not valid JSON are refused. The hooks call the launcher by
its absolute path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from unified_state.hosts.install.claude_settings import config_folder
from unified_state.hosts.install.hook_launcher import launcher_path, write_launcher
from unified_state.hosts.install.hook_table import (
    OUTPUT_EVENT,
    calls_hook_group,
    hook_groups,
    is_our_handler,
    is_tool_handler,
    lean_level,
    our_handlers,
    output_hook_group,
    tool_hook_events,
    tool_hook_group,
    tool_matcher,
)
from unified_state.hosts.install.settings_edit import (
    Settings,
    append_entries,
    edit_settings,
    edited,
    read_settings,
    remove_entries,
    without_handlers,
)
from unified_state.hosts.install.skill_file import Skill, plan_skill, remove_skill, write_skill
from unified_state.hosts.install.status_line_entry import is_our_status_line, with_status_line, without_status_line
from unified_state.lib.files import remove_if_empty, write_atomically
from unified_state.lib.package import asset_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.model.hook_event import CALLS_EVENT

SCOPES = ("local", "project", "user")
_READING = ("show", "search", "log", "list", "history", "status", "preview", "age")
READ_ONLY_RULES = (
    *(f"Bash(unified-state {verb}:*)" for verb in _READING),
    "Bash(unified-state inbox)",  # with words behind it, it accepts and rejects
)
# What an agent records is never the user's word, and what weakens a rule passes the gate, whether it is asked or not.
RECORDING_RULES = tuple(
    f"Bash(unified-state {verb}:*)" for verb in ("add", "edit", "drop", "resolve", "undo", "work", "save")
)
COMMAND_FILE = "context-compact.md"
LEAN_OFF = "off"


class InstallResult(Record):
    """Result of an installation or removal.

    It has the settings file and whether it changed, the command file if that changed, whether the status line is ours
    now, the level at which long outputs are shortened, whether a hook archives tool calls, whether the client runs our
    read-only and our recording commands without asking, the skill's file if it is ours, and a message for the user
    about it.
    """

    settings_path: str
    changed: bool
    command_path: str | None = None
    status_line: bool = False
    lean: str | None = None
    tool_calls: bool = False
    reading: bool = False
    recording: bool = False
    skill_path: str | None = None
    told: str = ""


class Target(Record):
    """Target of an installation: the settings file of a scope, and the folders of its slash commands and skills.

    `worktree` is the folder that no file of the scope may lead out of, or "" for the user's own.
    """

    scope: str
    settings_path: str
    commands_folder: str
    skills_folder: str
    worktree: str


class Choices(Record):
    """The user's choices. None keeps what the settings have already; `LEAN_OFF` shortens no outputs.

    `program` is the agent's name for our program. `skill_elsewhere` tells where the agent has the skill from already,
    or "".
    """

    reading: bool | None = None
    recording: bool | None = None
    status_line: bool | None = None
    lean: str | None = None
    skill: bool | None = None
    tool_calls: bool | None = None
    program: str = "unified-state"
    skill_elsewhere: str = ""


def target(scope: str, worktree: str, environ: Mapping[str, str]) -> Target:
    """Return the files of a scope: `local` and `project` in the worktree, `user` in the client's configuration
    folder.
    """
    folder, inside = os.path.join(worktree, ".claude"), worktree
    if scope == "user":
        folder, inside = config_folder(environ), ""
    settings = os.path.join(folder, "settings.local.json" if scope == "local" else "settings.json")
    return Target(scope, settings, os.path.join(folder, "commands"), os.path.join(folder, "skills"), inside)


def install(place: Target, data_dir: str, choices: Choices) -> InstallResult:
    """Add our hooks, the slash command and the skill, and replace those of an earlier version."""
    write_launcher()
    changed = edit_settings(place.settings_path, lambda settings: _with_ours(settings, data_dir, choices))
    settings = read_settings(place.settings_path)
    command = _command_path(place)
    if command is not None:
        write_atomically(command, _our_command(), 0o644)
    skill = write_skill(_skill(place, choices))
    if choices.skill is False or choices.skill_elsewhere:
        remove_skill(place.skills_folder)
    return InstallResult(
        place.settings_path,
        changed,
        command,
        status_line=is_our_status_line(settings.get("statusLine")),
        lean=lean_level(settings),
        tool_calls=bool(our_handlers(settings, CALLS_EVENT)),
        reading=_allows(settings, READ_ONLY_RULES),
        recording=_allows(settings, RECORDING_RULES),
        skill_path=None if skill.content is None else skill.path,
        told=skill.told,
    )


def planned_files(place: Target, data_dir: str, choices: Choices) -> dict[str, str]:
    """Return the content of each file that `install` would write, by its path."""
    planned = {place.settings_path: edited(place.settings_path, lambda now: _with_ours(now, data_dir, choices))[1]}
    if (command := _command_path(place)) is not None:
        planned[command] = _our_command().decode()
    skill = _skill(place, choices)
    planned[skill.path] = None if skill.content is None else skill.content.decode()
    return {path: text for path, text in planned.items() if text is not None and _text_of(path) != text}


def _skill(place: Target, choices: Choices) -> Skill:
    unwanted = "not wanted; `install` without --no-skill writes it" if choices.skill is False else ""
    return plan_skill(place.skills_folder, place.worktree, choices.program, unwanted or choices.skill_elsewhere)


def _with_ours(settings: Settings, data_dir: str, choices: Choices) -> Settings:
    """Return the settings with our entries: those that every installation has, and those that are chosen or there."""
    program = launcher_path()
    groups = hook_groups(data_dir, program)
    if (matcher := tool_matcher(settings)) is not None:
        groups |= {event: [tool_hook_group(data_dir, program, matcher)] for event in tool_hook_events(matcher)}
    level = lean_level(settings) if choices.lean is None else choices.lean
    if level is not None and level != LEAN_OFF:
        groups[OUTPUT_EVENT] = [output_hook_group(level, data_dir, program)]
    if bool(our_handlers(settings, CALLS_EVENT)) if choices.tool_calls is None else choices.tool_calls:
        groups[CALLS_EVENT] = [calls_hook_group(data_dir, program)]
    rules = list[str]()
    for ours, chosen in ((READ_ONLY_RULES, choices.reading), (RECORDING_RULES, choices.recording)):
        rules += ours if (_allows(settings, ours) if chosen is None else chosen) else ()
    had_status, settings = without_status_line(settings)
    settings = _without_our_hooks(settings)
    for event, entries in groups.items():
        settings = append_entries(settings, ("hooks", event), entries)
    if rules:
        settings = append_entries(settings, ("permissions", "allow"), rules)
    shows_status = had_status if choices.status_line is None else choices.status_line
    return with_status_line(settings, data_dir) if shows_status else settings


def _allows(settings: Settings, rules: Sequence[str]) -> bool:
    """Return whether settings have most of some rules of ours, so that `install` added them. A user may have some."""
    allowed = settings.get("permissions", {}).get("allow", [])
    return len([rule for rule in rules if rule in allowed]) * 2 > len(rules)


def uninstall(place: Target) -> InstallResult:
    """Remove our entries, the slash command and the skill. A settings file with nothing else is deleted."""
    changed = edit_settings(place.settings_path, lambda now: _without_our_hooks(without_status_line(now)[1]))
    command = _uninstall_command(place)
    skill, told = remove_skill(place.skills_folder)
    return InstallResult(place.settings_path, changed, command, skill_path=skill, told=told)


def put_tool_hook(path: str, data_dir: str, matcher: str | None) -> bool:
    """Put the hook before the calls of some tools into these settings, in place of an earlier one, or remove it (None).

    Return whether the file was created for it.
    """

    def put(settings: Settings) -> Settings:
        settings = without_handlers(settings, is_tool_handler)
        for event in () if matcher is None else tool_hook_events(matcher):
            group = tool_hook_group(data_dir, launcher_path(), matcher or "")
            settings = append_entries(settings, ("hooks", event), [group])
        return settings

    is_new = not os.path.exists(path)
    return edit_settings(path, put) and is_new


def _without_our_hooks(settings: Settings) -> Settings:
    settings = without_handlers(settings, is_our_handler)
    return remove_entries(settings, ("permissions", "allow"), lambda rule: rule in (*READ_ONLY_RULES, *RECORDING_RULES))


def _text_of(path: str) -> str | None:
    try:
        return read_regular(path, LARGE_FILE).decode("utf-8", "replace")
    except OSError:
        return None


def _command_path(place: Target) -> str | None:
    """Return the path of the slash command; None if the user has one of that name."""
    path = os.path.join(place.commands_folder, COMMAND_FILE)
    return path if not os.path.lexists(path) or _is_our_command(path) else None


def _uninstall_command(place: Target) -> str | None:
    path = _command_path(place)
    if path is None or not os.path.exists(path):
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
    """Return whether a file is our slash command. One behind a link is left to whoever made the link."""
    return not os.path.islink(path) and b"unified-state" in read_regular(path, LARGE_FILE)

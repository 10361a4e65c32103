"""Install our hooks into the client's settings, and remove them.

Only our own entries are added and removed. Settings that are not valid JSON are refused. The hooks call the launcher by
its absolute path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from unified_state.hosts.install.claude_settings import config_folder
from unified_state.hosts.install.hook_launcher import launcher_path, write_launcher
from unified_state.hosts.install.hook_table import (
    OUTPUT_EVENT,
    hook_groups,
    is_our_handler,
    is_tool_handler,
    lean_level,
    output_hook_group,
    tool_hook_events,
    tool_hook_group,
    tool_matcher,
)
from unified_state.hosts.install.settings_edit import (
    CREATED,
    WITHOUT_SKILL,
    Settings,
    again_if_changed,
    append_entries,
    laid_out,
    parsed,
    read_text,
    remove_entries,
    remove_handlers,
    without_handlers,
    write_text,
)
from unified_state.hosts.install.skill_file import Skill, plan_skill, remove_skill, write_skill
from unified_state.hosts.install.status_line_entry import with_status_line, without_status_line
from unified_state.lib.files import remove_if_empty, write_atomically
from unified_state.lib.package import asset_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.record import Record
from unified_state.model.constraint import ALL_TOOLS

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
    now, the level at which long outputs are shortened, whether the client runs our read-only and our recording commands
    without asking, the skill's file if it is ours, and a message for the user about it.
    """

    settings_path: str
    changed: bool
    command_path: str | None = None
    status_line: bool = False
    lean: str | None = None
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
    program: str = "unified-state"
    skill_elsewhere: str = ""


class Plan(Record):
    """What `install` would write: the settings before and after, the slash command (None: left alone) and the skill;
    and the result of that.
    """

    before: str | None
    after: str
    command: bytes | None
    skill: Skill
    done: InstallResult

    def files(self, place: Target) -> dict[str, str]:
        """Return the content of each file that would change, by its path."""
        planned = {place.settings_path: self.after}
        for path, content in ((self.done.command_path, self.command), (self.skill.path, self.skill.content)):
            if path is not None and content is not None:
                planned[path] = content.decode()
        return {path: text for path, text in planned.items() if _text_of(path) != text}


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

    def write_settings() -> tuple[Plan, bool]:
        plan = plan_install(place, data_dir, choices)
        return plan, write_text(place.settings_path, plan.before, plan.after, data_dir)

    plan, changed = again_if_changed(write_settings)
    if plan.command is not None and plan.done.command_path is not None:
        write_atomically(plan.done.command_path, plan.command, 0o644)
    if choices.skill is not None:
        (WITHOUT_SKILL.remove if choices.skill else WITHOUT_SKILL.add)(data_dir, place.settings_path)
    skill = write_skill(plan.skill)
    if skill.goes:
        remove_skill(place.skills_folder)
    is_written = skill.content is not None
    return plan.done.replace(changed=changed, skill_path=skill.path if is_written else None, told=skill.told)


def plan_install(place: Target, data_dir: str, choices: Choices) -> Plan:
    """Return what `install` writes."""
    before = read_text(place.settings_path)
    had_status, settings = without_status_line({} if before is None else parsed(before))
    shows_status = had_status if choices.status_line is None else choices.status_line
    reads = _allows(settings, READ_ONLY_RULES) if choices.reading is None else choices.reading
    records = _allows(settings, RECORDING_RULES) if choices.recording is None else choices.recording
    rules = [*READ_ONLY_RULES * reads, *RECORDING_RULES * records]
    chosen = lean_level(settings) if choices.lean is None else choices.lean
    level = None if chosen == LEAN_OFF else chosen
    groups = _groups(settings, data_dir, level)
    settings = _without_our_hooks(settings)
    for event, entries in groups.items():
        settings = append_entries(settings, ("hooks", event), entries)
    if rules:
        present = settings.get("permissions", {}).get("allow", [])
        new = [rule for rule in rules if rule not in present]
        settings = append_entries(settings, ("permissions", "allow"), new)
    if shows_status:
        settings = with_status_line(settings, data_dir)
    text = laid_out(settings, before)
    path = os.path.join(place.commands_folder, COMMAND_FILE)
    command = None if os.path.lexists(path) and not _is_our_command(path) else _our_command()
    written = None if command is None else path
    done = InstallResult(place.settings_path, text != before, written, shows_status, level, reads, records)
    return Plan(before, text, command, _skill(place, data_dir, choices), done)


def _skill(place: Target, data_dir: str, choices: Choices) -> Skill:
    is_wanted = not WITHOUT_SKILL.has(data_dir, place.settings_path) if choices.skill is None else choices.skill
    elsewhere = choices.skill_elsewhere if is_wanted else "not wanted; `install --skill` writes it"
    return plan_skill(place.skills_folder, place.worktree, choices.program, is_elsewhere=elsewhere)


def _groups(settings: Any, data_dir: str, level: str | None) -> dict[str, list[dict[str, Any]]]:
    """Return our entries by event: those that every installation has, and those that these settings have already."""
    program = launcher_path()
    groups = hook_groups(data_dir, program)
    matcher = tool_matcher(settings)
    if matcher is not None:
        groups |= {event: [tool_hook_group(data_dir, program, matcher)] for event in tool_hook_events(matcher)}
    if level is not None:
        groups[OUTPUT_EVENT] = [output_hook_group(level, data_dir, program)]
    return groups


def _allows(settings: Any, rules: Sequence[str]) -> bool:
    """Return whether settings have most of some rules of ours, so that `install` added them. A user may have some."""
    permissions = settings.get("permissions") if isinstance(settings, dict) else None
    allowed = permissions.get("allow") if isinstance(permissions, dict) else None
    present = [rule for rule in rules if isinstance(allowed, list) and rule in allowed]
    return len(present) * 2 > len(rules)


def uninstall(place: Target, data_dir: str) -> InstallResult:
    """Remove our entries, the slash command and the skill. A settings file that we created and that is otherwise empty
    is deleted.
    """

    def take_out() -> bool:
        before = read_text(place.settings_path)
        if before is None:
            return False
        settings = _without_our_hooks(without_status_line(parsed(before))[1])
        return write_text(place.settings_path, before, laid_out(settings, before), data_dir, is_empty=not settings)

    changed = again_if_changed(take_out)
    for known in (CREATED, WITHOUT_SKILL):
        known.remove(data_dir, place.settings_path)
    command = _uninstall_command(place)
    skill, told = remove_skill(place.skills_folder)
    return InstallResult(place.settings_path, changed, command, skill_path=skill, told=told)


def put_tool_hook(path: str, data_dir: str, matcher: str | None) -> bool:
    """Put the hook before the calls of some tools into these settings, in place of an earlier one, or remove it (None).

    Return whether the file was created for it.
    """
    group = None if matcher is None else tool_hook_group(data_dir, launcher_path(), matcher)

    def put() -> bool:
        before = read_text(path)
        if before is None and group is None:
            return False
        settings = {} if before is None else parsed(before)
        for event in tool_hook_events(ALL_TOOLS):
            settings = remove_handlers(settings, event, is_tool_handler)
        for event in () if group is None or matcher is None else tool_hook_events(matcher):
            settings = append_entries(settings, ("hooks", event), [group])
        write_text(path, before, laid_out(settings, before), data_dir, is_empty=not settings)
        return before is None

    return again_if_changed(put)


def read_settings(path: str) -> Any:
    """Return a client's settings file as JSON, or None if there is no file. Raises UnifiedStateError if it is not a
    JSON object.
    """
    text = read_text(path)
    return None if text is None else parsed(text)


def _without_our_hooks(settings: Settings) -> Settings:
    settings = without_handlers(settings, is_our_handler)
    return remove_entries(settings, ("permissions", "allow"), lambda rule: rule in (*READ_ONLY_RULES, *RECORDING_RULES))


def _text_of(path: str) -> str | None:
    try:
        return read_regular(path, LARGE_FILE).decode("utf-8", "replace")
    except OSError:
        return None


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
    """Return whether a file is our slash command. One behind a link is left to whoever made the link."""
    return not os.path.islink(path) and b"unified-state" in read_regular(path, LARGE_FILE)

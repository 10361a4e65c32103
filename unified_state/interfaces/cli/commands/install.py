"""`install`, `uninstall`: add the hooks to an agent's settings, and remove them."""

from __future__ import annotations

import compileall
import os
import sys
from argparse import BooleanOptionalAction, Namespace

from unified_state.constraints.compile_constraints import turn_off, turn_on
from unified_state.constraints.constraint_table import read_table, settings_path
from unified_state.constraints.told_once import worktrees_on
from unified_state.errors import UsageError
from unified_state.hosts.install.agents_file import add_pointer, remove_pointer
from unified_state.hosts.install.claude_settings import is_enabled
from unified_state.hosts.install.hook_launcher import check_is_durable
from unified_state.hosts.install.install_claude_code import (
    COMMAND_FILE,
    LEAN_OFF,
    READ_ONLY_RULES,
    SCOPES,
    Choices,
    InstallResult,
    Target,
    install,
    planned_files,
    put_tool_hook,
    target,
    uninstall,
)
from unified_state.hosts.install.install_host import host_file, install_host, uninstall_host
from unified_state.hosts.install.skill_file import SKILL, has_skill
from unified_state.hosts.transcripts.rules.hosts import HOSTS
from unified_state.interfaces.cli.command_context import Add, Command, Context, argument, flag
from unified_state.lib.fence import visible
from unified_state.lib.files import remove_if_empty
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.shell.search_path import own_program
from unified_state.lib.times import current_time
from unified_state.model.hook_event import LEAN_LEVELS
from unified_state.project.git_exclude import exclude_from_git, include_in_git
from unified_state.project.identity import remember
from unified_state.project.place import Place, locate
from unified_state.project.workspace.link import candidates
from unified_state.restore.rules_file import begin_rules_file, end_rules_files
from unified_state.settings import Settings, environment
from unified_state.upkeep.forget.purge import purge

_CLAUDE, _LOCAL, _USER = "claude", "local", "user"
_PROGRAM = "unified-state"
_EXCLUDED = ("settings.local.json", f"commands/{COMMAND_FILE}", f"skills/{SKILL}/")
_ON, _OFF = "on", "off"


def _install(context: Context, arguments: Namespace) -> None:
    check_is_durable(sys.prefix)
    if arguments.host != _CLAUDE:
        return _install_into_host(context, arguments)
    place, settings = context.here(create=False)
    chosen = target(arguments.scope or _LOCAL, place.repository.worktree, environment())
    choices = _choices(arguments, chosen, place.repository.worktree)
    if arguments.show:
        return _show(context, chosen, choices, settings)
    place, settings = context.here(create=True)
    remember(place.repository, place.folder)
    return _install_into_claude(context, arguments, chosen, choices, place, settings)


def _install_into_claude(
    context: Context, arguments: Namespace, chosen: Target, choices: Choices, place: Place, settings: Settings
) -> None:
    """Add the hooks, the command and the skill, and say what is where."""
    done = install(chosen, settings.data_dir, choices)
    if chosen.scope == _LOCAL:
        exclude_from_git(place, _EXCLUDED)
    compileall.compile_dir(os.path.join(PACKAGE_ROOT, "unified_state"), quiet=2)
    channels = _open_channels(arguments, context)
    reminds = _switch_reminders(arguments.reminders, context, place, settings)
    lines = [
        f"hooks {'installed in' if done.changed else 'are in place in'} {done.settings_path}",
        f"/context-compact is {done.command_path or 'left alone: a command of that name exists'}",
        *([done.told] if done.skill_path else []),
        f"everything is archived in {place.folder}",
        *([f"long tool outputs are shortened: {done.lean}"] if done.lean else []),
        *(["tool calls are archived without a transcript, too"] if done.tool_calls else []),
        *(["reminders before tool calls are on"] if reminds else []),
        *(f"{path} {purpose}" for path, purpose in channels.items()),
    ]
    context.show({**done.as_dict(), "reminders": reminds, "channels": list(channels)}, "\n".join(lines))
    for line in _advice(done, chosen.scope, place, settings):
        context.say(line)
    if not context.as_json:
        where = "in any project" if chosen.scope == _USER else f"in {place.repository.worktree}"
        context.write(visible(f"now start claude {where}"))


def _choices(arguments: Namespace, chosen: Target, worktree: str) -> Choices:
    """Return the choices that options make, with our program's name, and with where the agent has the skill from."""
    others = [target(scope, worktree, environment()) for scope in SCOPES if scope != chosen.scope]
    found = [one.scope for one in others if one.skills_folder != chosen.skills_folder and has_skill(one.skills_folder)]
    elsewhere = f"that of the scope {found[0]}" if found else ""
    if is_enabled(worktree, environment()):
        elsewhere = "that of the plugin"
    name = own_program(environment()) if chosen.scope != "project" else None
    choices = Choices(
        *(arguments.allow_reading, arguments.allow_recording, arguments.status_line, arguments.lean, arguments.skill),
        arguments.tool_calls,
    )
    return choices.replace(program=name or _PROGRAM, skill_elsewhere=elsewhere)


def _show(context: Context, chosen: Target, choices: Choices, settings: Settings) -> None:
    """Print what would be written, and write nothing."""
    files = planned_files(chosen, settings.data_dir, choices)
    shown = [f"would write {path}:\n{text.rstrip()}\n" for path, text in files.items()]
    if chosen.scope == _LOCAL:
        shown.append(f"would keep out of git status: {', '.join(f'.claude/{name}' for name in _EXCLUDED)}")
    context.show({"files": files}, "\n".join([*shown, "nothing was written"]))


def _switch_reminders(chosen: str | None, context: Context, place: Place, settings: Settings) -> bool:
    """Turn reminders on or off if the user chose that, and return whether they are on in this worktree."""
    if chosen == _ON:
        turn_on(context.workspace(create=True))
    is_on = chosen != _OFF and place.repository.worktree in worktrees_on(place.folder)
    if not is_on:  # a hook may be left from before this checkout joined another archive
        turn_off(place, settings.data_dir)
    return is_on


def _advice(done: InstallResult, scope: str, place: Place, settings: Settings) -> list[str]:
    """Return the notes for the user after an installation: risks first, options, then other archives."""
    lines = {
        "these settings name this machine's interpreter; teammates need their own: --scope local is for that": (
            scope == "project"
        ),
        "the plugin is enabled too; it leaves the work to these hooks": is_enabled(
            place.repository.worktree, environment()
        ),
        done.told: not done.skill_path,
        "`install --status-line` shows in the client how full its context is": not done.status_line,
        f"`install --allow-reading` lets the client run {len(READ_ONLY_RULES)} commands of ours that only read without "
        "asking; `install --allow-reading --show` prints them": not done.reading,
    }
    others = [
        f"there is an archive {other.id} of {other.worktree} ({other.archive_bytes / 1e6:.1f} MB) of the same "
        f"repository; `unified-state config link {other.id}` joins it"
        for other in candidates(place, settings.data_dir)
    ]
    return [line for line, applies in lines.items() if applies and line] + others


def _install_into_host(context: Context, arguments: Namespace) -> None:
    """Add the hooks to another agent's file."""
    host = HOSTS[arguments.host]
    given = {
        "--lean": arguments.lean,
        "--reminders": arguments.reminders,
        "--show": arguments.show or None,
        "--skill": arguments.skill,
        "--tool-calls": arguments.tool_calls,
    }
    option = next((name for name, value in given.items() if value is not None), None)
    if option is not None:
        message = f"{option} works in Claude Code, not in {arguments.host}"
        raise UsageError(message, "leave it out; nothing was installed")
    place, settings = context.here(create=True)
    remember(place.repository, place.folder)
    scope = arguments.scope or _LOCAL
    path = host_file(host, scope, place.repository.worktree, environment())
    done = install_host(host, path, settings.data_dir)
    if scope == _LOCAL:
        exclude_from_git(place, [host.project_file], folder="")
    verb = "installed in" if done.changed else "are in place in"
    text = f"hooks for {host.title} {verb} {done.settings_path}\neverything is archived in {place.folder}"
    context.show(done.as_dict(), text)
    if host.next_step:
        context.say(host.next_step)
    if not host.tried:
        context.say(
            f"written after {host.title}'s documents, never run with it: `unified-state doctor` tells if it runs"
        )


def _open_channels(arguments: Namespace, context: Context) -> dict[str, str]:
    """Write the requested files for clients without hooks. Return the purpose of each."""
    opened = {}
    if arguments.rules:
        path = begin_rules_file(context.workspace(create=True), current_time())
        opened[path] = "gives the client the state where hooks are off"
    if arguments.agents_md:
        path = add_pointer(locate(context.folder, "", create=False).repository.worktree)
        opened[path] = "points other agents to the state"
    return opened


def _uninstall(context: Context, arguments: Namespace) -> None:
    place, settings = context.here(create=False)
    if arguments.host == _CLAUDE or arguments.purge:
        context.check_may_take_away(place, settings, "uninstalls")
    worktree = place.repository.worktree
    if arguments.host == _CLAUDE:
        done, closed = _uninstall_from_claude(arguments.scope, context, place, settings)
    else:
        host = HOSTS[arguments.host]
        path = host_file(host, arguments.scope, worktree, environment())
        done, closed = uninstall_host(host, path), []
    lines = [f"{'hooks taken out of' if done.changed else 'there were no hooks of ours in'} {done.settings_path}"]
    lines += [f"removed {done.skill_path}"] if done.skill_path else []
    lines += [f"taken out of {path}" if os.path.exists(path) else f"removed {path}" for path in closed]
    if arguments.purge:
        lines.append(purge(place, settings))
        include_in_git(place)
    elif os.path.isdir(place.folder):
        lines.append(f"what was recorded stays in {place.folder}, the state file in {place.state_path}")
        lines.append("`unified-state uninstall --purge` deletes both")
    if done.told:
        context.say(done.told)
    remove_if_empty(os.path.join(worktree, ".claude"))
    data = place.folder if os.path.isdir(place.folder) else None
    context.show({**done.as_dict(), "channels": closed, "data": data}, "\n".join(lines))


def _uninstall_from_claude(
    scope: str, context: Context, place: Place, settings: Settings
) -> tuple[InstallResult, list[str]]:
    """Remove everything that `install` added. Return the result, and the other changed files."""
    worktree = place.repository.worktree
    done = uninstall(target(scope, worktree, environment()))
    if scope != _LOCAL:  # the hook before tool calls is in the worktree's own settings
        put_tool_hook(settings_path(worktree), settings.data_dir, None)
    turn_off(place, settings.data_dir)
    table = read_table(place.folder)
    if table is not None and table.constraints:
        refs = ", ".join(entry.ref for entry in table.constraints)
        context.say(
            f"no longer enforced in this checkout: {refs}; if you installed with another --scope too, uninstall there"
        )
    if is_enabled(worktree, environment()):
        context.say(
            "the plugin is enabled, and runs the hooks from now on; `claude plugin disable unified-state` stops it"
        )
    return done, [*end_rules_files(place), *filter(None, [remove_pointer(worktree)])]


_HOST = argument("--host", choices=(_CLAUDE, *HOSTS), default=_CLAUDE, help="which agent; default: claude")
_SCOPE_HELP = "local: this checkout, not committed (default); project: committed; user: all your projects"


def _switch(name: str, text: str) -> Add:
    """Return a function that adds an option with an opposite: `--name` and `--no-name`. Without both, all stays."""
    return argument(name, action=BooleanOptionalAction, default=None, help=text)


COMMANDS = {
    "install": Command(
        _install,
        _HOST,
        argument("--scope", choices=SCOPES, help=_SCOPE_HELP),
        flag("--show", "print what would be written, and write nothing"),
        _switch("--allow-reading", "also let the client run our read-only commands without asking"),
        _switch("--allow-recording", "also let the agent record without asking; it is never your word"),
        _switch(
            "--status-line",
            "also show how full the context is in the client's status line; yours is kept and shown above it",
        ),
        _switch("--tool-calls", "also archive tool calls of sessions without a transcript (--no-session-persistence)"),
        _switch("--skill", "write the skill that tells the agent when to record (default)"),
        flag(
            "--rules", "also write .claude/rules/unified-state.md, which gives the client the state where hooks are off"
        ),
        flag("--agents-md", "also put a pointer for other agents into AGENTS.md"),
        argument(
            "--lean",
            choices=(LEAN_OFF, *LEAN_LEVELS),
            help="also shorten long tool outputs before the model reads them; the whole stays in the archive",
        ),
        argument(
            "--reminders",
            choices=(_ON, _OFF),
            help="also remind the agent, once, before an edit or a command that a recorded fact is about",
        ),
    ),
    "uninstall": Command(
        _uninstall,
        _HOST,
        argument("--scope", choices=SCOPES, default=_LOCAL, help=_SCOPE_HELP),
        flag("--purge", "also delete what was recorded for this repository"),
    ),
}

"""`install`, `uninstall`: into the client and out again."""

from __future__ import annotations

import compileall
import os

from unified_state.agents.install.agents_file import add_pointer, remove_pointer
from unified_state.agents.install.claude_settings import is_enabled
from unified_state.agents.install.hook_table import told_of_interpreter
from unified_state.agents.install.install_claude_code import (
    COMMAND_FILE,
    LEAN_OFF,
    READ_ONLY_RULES,
    SCOPES,
    install,
    put_tool_hook,
    target,
    uninstall,
)
from unified_state.agents.transcripts.rules.hosts import HOSTS
from unified_state.constraints.constraint_table import read_table, settings_path
from unified_state.context.lean.rules.levels import NAMES
from unified_state.errors import UsageError
from unified_state.interfaces.cli.command_context import Context
from unified_state.interfaces.cli.install_hosts import install_into, uninstall_from
from unified_state.lib.files import remove_if_empty
from unified_state.lib.package import PACKAGE_ROOT
from unified_state.lib.times import current_time
from unified_state.memory.repository.git_exclude import exclude_from_git, excluded_lines, include_in_git
from unified_state.memory.repository.place import locate
from unified_state.memory.workspace.link import candidates, note_about
from unified_state.restore.rules_file import begin_rules_file, end_rules_files
from unified_state.settings import environment, is_moved, load_settings, user_file
from unified_state.upkeep.doctor.diagnose import network_file_system
from unified_state.upkeep.forget.purge import purge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from unified_state.agents.install.install_claude_code import Installed
    from unified_state.memory.repository.place import Place
    from unified_state.settings import Settings


def configure(name: str, parser: ArgumentParser) -> None:
    """Add the arguments of one of the commands."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    match name:
        case "install":
            _scope(parser)
            parser.add_argument(
                "--allow-reading",
                action="store_true",
                help="also let the client run our read-only commands without asking",
            )
            parser.add_argument(
                "--status-line",
                action="store_true",
                help="also show how full the context is in the client's status line; yours is kept and shown above it",
            )
            parser.add_argument(
                "--rules",
                action="store_true",
                help="also keep .claude/rules/unified-state.md, which tells the client the state where hooks are off",
            )
            parser.add_argument(
                "--agents-md", action="store_true", help="also put a pointer for other agents into AGENTS.md"
            )
            parser.add_argument(
                "--lean",
                choices=(LEAN_OFF, *NAMES),
                help="also shorten long tool outputs before the model reads them; the whole stays in the archive",
            )
        case "uninstall":
            _scope(parser)
            parser.add_argument(
                "--purge", action="store_true", help="also delete what was recorded for this repository"
            )
    parser.set_defaults(run={"install": _install, "uninstall": _uninstall}[name])


def _scope(parser: ArgumentParser) -> None:
    parser.add_argument("--host", choices=("claude", *HOSTS), default="claude", help="which agent; default: claude")
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="local",
        help="local: this checkout, not committed (default); project: committed; user: all your projects",
    )


def _install(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json)
    _keep_data_home(context)
    place, settings = context.here(create=True)
    note_about(place)
    if arguments.host != "claude":
        _refuse_lean(arguments)
        return install_into(HOSTS[arguments.host], arguments.scope, context, place, settings)
    where = target(arguments.scope, place.repository.worktree, environment())
    done = install(
        where,
        settings.data_dir,
        allow_reading=arguments.allow_reading,
        show_status=arguments.status_line,
        lean=arguments.lean,
    )
    if arguments.scope == "local":
        exclude_from_git(place, ["settings.local.json", f"commands/{COMMAND_FILE}"])
    compileall.compile_dir(os.path.join(PACKAGE_ROOT, "unified_state"), quiet=2)
    lines = [
        f"hooks {'installed in' if done.changed else 'are in place in'} {done.settings_path}",
        f"/context-compact is {done.command_path or 'left alone: a command of that name exists'}",
        f"everything is archived in {place.folder}",
    ]
    lines += [f"long tool outputs are shortened: {done.lean}"] if done.lean else []
    channels = _open_channels(arguments, context)
    lines += [f"{path} {told}" for path, told in channels.items()]
    context.show({**done.as_dict(), "channels": list(channels)}, "\n".join(lines))
    if arguments.scope == "project":
        context.say(
            "these settings name this machine's interpreter; teammates need their own: --scope local is for that"
        )
    if is_enabled(place.repository.worktree, environment()):
        context.say("the plugin is enabled too; it leaves the work to these hooks")
    if (told := told_of_interpreter()) is not None:
        context.say(told)
    _advise(done, arguments, context)
    _tell_of_archives(place, settings, context)
    return 0


def _advise(done: Installed, arguments: Namespace, context: Context) -> None:
    """Say what else there is."""
    if not done.status_line:
        context.say("`install --status-line` shows in the client how full its context is")
    if not arguments.allow_reading:
        context.say(f"`install --allow-reading` lets the client run without asking: {', '.join(READ_ONLY_RULES[:3])} …")


def _tell_of_archives(place: Place, settings: Settings, context: Context) -> None:
    """Say where the archive lies on unsafe ground, and which other one could be meant."""
    kind = network_file_system(place.folder)
    if kind:
        context.say(f"{place.folder} is on a network file system ({kind}), where locks are not reliable; set data_dir")
    for other in candidates(place, settings.data_dir):
        told = f"archive {other.id} of {other.worktree} ({other.archive_bytes / 1e6:.1f} MB)"
        context.say(f"there is an {told} of the same repository; `unified-state link {other.id}` joins it")


def _refuse_lean(arguments: Namespace) -> None:
    if arguments.lean is not None:
        message = f"--lean works in Claude Code, not in {arguments.host}"
        raise UsageError(message, "leave it out; nothing was installed")


def _open_channels(arguments: Namespace, context: Context) -> dict[str, str]:
    """Open the ways round the hooks that were asked for; what each file does."""
    opened = {}
    if arguments.rules:
        path = begin_rules_file(context.workspace(create=True), current_time())
        opened[path] = "gives the client the state where hooks are off"
    if arguments.agents_md:
        path = add_pointer(locate(context.folder, "", create=False).repository.worktree)
        opened[path] = "points other agents to the state"
    return opened


def _keep_data_home(context: Context) -> None:
    """Hooks and commands must agree where the data lies, and the client's environment is not the user's alone, so
    XDG_DATA_HOME is only read here, and written down where the user's own settings are.
    """
    folder = environment().get("XDG_DATA_HOME")
    path = user_file()
    if not folder or not os.path.isabs(folder) or load_settings(None, {}).origin["data_dir"] != "default":
        return
    if is_moved(environment()):  # what was written there would not count
        context.say("XDG_DATA_HOME is not used: $HOME is not the home in the password database")
        return
    place, settings = context.here(create=False)
    context.check_may_take_away(place, settings, "moves what is recorded")
    chosen = os.path.join(folder, "unified-state")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(f'data_dir = "{chosen}"  # from XDG_DATA_HOME, when unified-state was installed\n')
    context.say(f"XDG_DATA_HOME is set: wrote data_dir = {chosen} to {path}")


def _uninstall_from_claude(
    scope: str, context: Context, place: Place, settings: Settings
) -> tuple[Installed, list[str]]:
    """Take out what `install` put in; what was changed, and the files beside the settings that were."""
    worktree = place.repository.worktree
    done = uninstall(target(scope, worktree, environment()), settings.data_dir)
    if scope != "local":  # the hook before tool calls stands in the worktree's own settings
        put_tool_hook(settings_path(worktree), settings.data_dir, wanted=False)
    table = read_table(place.folder)
    if table is not None and table.constraints:
        refs = ", ".join(entry.ref for entry in table.constraints)
        context.say(
            f"no longer enforced in this checkout: {refs}; hooks that another scope still has enforce them again"
        )
    if is_enabled(worktree, environment()):
        context.say(
            "the plugin is enabled, and runs the hooks from now on; `claude plugin disable unified-state` stops it"
        )
    return done, [*end_rules_files(place), *filter(None, [remove_pointer(worktree)])]


def _uninstall(arguments: Namespace) -> int:
    context = Context(as_json=arguments.json)
    place, settings = context.here(create=False)
    if arguments.host == "claude" or arguments.purge:
        context.check_may_take_away(place, settings, "uninstalls")
    excluded = excluded_lines(place)
    if arguments.host == "claude":
        done, closed = _uninstall_from_claude(arguments.scope, context, place, settings)
    else:
        done, closed = uninstall_from(HOSTS[arguments.host], arguments.scope, place, settings), []
    lines = [f"{'hooks taken out of' if done.changed else 'there were no hooks of ours in'} {done.settings_path}"]
    lines += [f"taken out of {path}" if os.path.exists(path) else f"removed {path}" for path in closed]
    if arguments.purge:
        lines.append(purge(place, settings))
    elif os.path.isdir(place.folder):
        lines.append(f"what was recorded stays in {place.folder}, the state file in {place.state_path}")
        lines.append("`unified-state uninstall --purge` deletes both")
    include_in_git(place, excluded)
    remove_if_empty(os.path.join(place.repository.worktree, ".claude"))
    data = place.folder if os.path.isdir(place.folder) else None
    context.show({**done.as_dict(), "channels": closed, "data": data}, "\n".join(lines))
    return 0

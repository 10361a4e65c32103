"""`install --host` and `uninstall --host`: into other agents than Claude Code, and out again."""

from __future__ import annotations

from unified_state.agents.install.install_host import host_file, install_host, uninstall_host
from unified_state.memory.repository.git_exclude import exclude_from_git
from unified_state.settings import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.agents.install.install_claude_code import Installed
    from unified_state.agents.transcripts.rules.hosts import Host
    from unified_state.interfaces.cli.command_context import Context
    from unified_state.memory.repository.place import Place
    from unified_state.settings import Settings


def install_into(host: Host, scope: str, context: Context, place: Place, settings: Settings) -> int:
    """Put the hooks into a host's file."""
    done = install_host(host, host_file(host, scope, place.repository.worktree, environment()), settings.data_dir)
    if scope == "local":
        exclude_from_git(place, [host.project_file], folder="")
    lines = [
        f"hooks for {host.title} {'installed in' if done.changed else 'are in place in'} {done.settings_path}",
        f"everything is archived in {place.folder}",
    ]
    context.show(done.as_dict(), "\n".join(lines))
    if host.next_step:
        context.say(host.next_step)
    if not host.tried:
        context.say(
            f"written after {host.title}'s documents, never run with it: `unified-state doctor` tells if it runs"
        )
    return 0


def uninstall_from(host: Host, scope: str, place: Place, settings: Settings) -> Installed:
    """Take the hooks out of a host's file."""
    return uninstall_host(host, host_file(host, scope, place.repository.worktree, environment()), settings.data_dir)

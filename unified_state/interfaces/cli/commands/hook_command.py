"""`hook`, `mcp`: what clients run."""

from __future__ import annotations

import sys
from argparse import Namespace

from unified_state.errors import MissingExtraError
from unified_state.hosts.install.claude_settings import data_folder, note_program
from unified_state.hosts.transcripts.rules.hosts import HOSTS
from unified_state.interfaces import host_hook, plugin
from unified_state.interfaces.cli.command_context import Command, Context, argument, flag
from unified_state.interfaces.hook import EVENTS, run
from unified_state.interfaces.tool_hook import limit_time
from unified_state.model.hook_event import BRIEF, PARTS
from unified_state.settings import environment, load_settings


def _hook(_context: Context, arguments: Namespace) -> int:
    limit_time(arguments.event)
    if arguments.plugin:
        note_program(data_folder(environment()))
        return plugin.run(arguments.event, arguments.part)
    data_dir = load_settings(None, environment()).data_dir
    if arguments.host:
        return host_hook.run(arguments.host, arguments.event, data_dir)
    part = arguments.part or (BRIEF if arguments.event == "SessionStart" else "")
    return run(arguments.event, part, data_dir)


def _mcp(_context: Context, _arguments: Namespace) -> int:
    try:
        import mcp.server.mcpserver  # noqa: F401  # older ones have no such module
    except ImportError as error:
        message = f"{sys.executable} has no package `mcp` of version 2 or later"
        raise MissingExtraError(message, f"{sys.executable} -m pip install 'mcp>=2,<3'") from error
    from unified_state.interfaces.mcp.mcp_server import serve

    return serve()


COMMANDS = {
    "mcp": Command(_mcp, has_json=False),
    "hook": Command(
        _hook,
        argument("event", metavar="EVENT", help=", ".join(EVENTS)),
        argument("part", nargs="?", default="", metavar="PART", help=f"of SessionStart: {' or '.join(PARTS)}"),
        flag("--plugin", "run as the plugin: save the path of this program, and yield to hooks in the settings"),
        argument("--host", choices=HOSTS, help="another agent; EVENT is its own name of the event"),
        has_json=False,
    ),
}

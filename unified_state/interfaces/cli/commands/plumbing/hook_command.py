"""`hook EVENT`: what the installed hooks run, by hand."""

from __future__ import annotations

from unified_state.agents.install.claude_settings import data_folder, note_program
from unified_state.agents.transcripts.rules.hosts import HOSTS
from unified_state.interfaces import host_hook
from unified_state.interfaces.hook import EVENTS, run
from unified_state.model.hook_event import BRIEF, PARTS
from unified_state.settings import environment, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("event", metavar="EVENT", help=", ".join(EVENTS))
    parser.add_argument("part", nargs="?", default="", metavar="PART", help=f"of SessionStart: {' or '.join(PARTS)}")
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="as the plugin: note there where this program lies, and leave to the hooks of the settings what they do",
    )
    parser.add_argument("--host", choices=HOSTS, help="another agent; EVENT is its own name of the event")
    parser.set_defaults(run=_hook)


def _hook(arguments: Namespace) -> int:
    if arguments.plugin:
        from unified_state.interfaces import plugin

        note_program(data_folder(environment()))
        return plugin.run(arguments.event, arguments.part)
    data_dir = load_settings(None, environment()).data_dir
    if arguments.host:
        return host_hook.run(arguments.host, arguments.event, data_dir)
    part = arguments.part or (BRIEF if arguments.event == "SessionStart" else "")
    return run(arguments.event, part, data_dir)

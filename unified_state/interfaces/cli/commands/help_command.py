"""`help`, `version`: explain the commands, and tell which version this is."""

from __future__ import annotations

from unified_state.errors import UsageError
from unified_state.interfaces.cli.command_context import Command, argument, either, flag
from unified_state.lib.package import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from unified_state.interfaces.cli.command_context import Context


def _help(context: Context, arguments: Namespace) -> int:
    if arguments.man:
        from unified_state.interfaces.cli.manual import manual

        context.write(manual())
        return 0
    if arguments.words and arguments.all:
        message = "--all lists all commands"
        raise UsageError(message, "leave it out, or the command")
    if arguments.words:
        from unified_state.interfaces.cli.main import run

        return run([*arguments.words, "--help"])
    from unified_state.interfaces.cli.first_page import all_commands, print_first_page

    if not arguments.all:
        return print_first_page(with_state=False)
    context.show(None, all_commands(), style="lists")
    return 0


def _version(context: Context, _arguments: Namespace) -> None:
    context.show({"version": __version__}, f"unified-state {__version__}")


COMMANDS = {
    "help": Command(
        _help,
        argument("words", nargs="*", metavar="COMMAND", help="a command, or a command and its verb"),
        either(
            flag("--all", "list every command, plumbing too"),
            flag("--man", "print the manual page, for `man -l`"),
        ),
        has_json=False,
    ),
    "version": Command(_version),
}

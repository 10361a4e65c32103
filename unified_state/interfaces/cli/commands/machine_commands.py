"""`help`, `version`, `completion`: about the program; `statusline`, `mcp`: for other programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from unified_state.errors import MissingExtraError, UsageError
from unified_state.interfaces.cli.argument_parser import build_parser
from unified_state.interfaces.cli.command_context import Command, Context, argument, flag
from unified_state.interfaces.cli.command_table import all_commands
from unified_state.interfaces.cli.first_page import command_list, print_first_page
from unified_state.interfaces.cli.main import run
from unified_state.lib.package import __version__
from unified_state.settings import environment, load_settings

if TYPE_CHECKING:
    from argparse import Namespace


def _help(context: Context, arguments: Namespace) -> int:
    if arguments.words and arguments.all:
        message = "--all lists all commands"
        raise UsageError(message, "leave it out, or the command")
    if arguments.words:
        return run([*arguments.words, "--help"])
    if not arguments.all:
        return print_first_page(with_state=False)
    context.show(None, command_list(), style="lists")
    return 0


def _version(context: Context, _arguments: Namespace) -> None:
    context.show({"version": __version__}, f"unified-state {__version__}")


def _status_line(_context: Context, _arguments: Namespace) -> None:
    from unified_state.interfaces.statusline import run

    run(load_settings(None, environment()).data_dir)


def _mcp(_context: Context, _arguments: Namespace) -> int:
    try:
        import mcp.server.mcpserver  # noqa: F401  # older ones have no such module
    except ImportError as error:
        message = f"{sys.executable} has no package `mcp` of version 2 or later"
        raise MissingExtraError(message, f"{sys.executable} -m pip install 'mcp>=2,<3'") from error
    from unified_state.interfaces.mcp.serve_stdio import serve

    return serve()


def _completion(context: Context, arguments: Namespace) -> None:
    import shtab

    context.write(shtab.complete(build_parser(list(all_commands())), shell=arguments.shell))


COMMANDS = {
    "help": Command(
        _help,
        argument("words", nargs="*", default=[], metavar="COMMAND", help="a command, or a command and its verb"),
        flag("--all", "list every command, plumbing too"),
        has_json=False,
    ),
    "version": Command(_version),
    "statusline": Command(_status_line, has_json=False),
    "mcp": Command(_mcp, has_json=False),
    "completion": Command(
        _completion,
        argument(
            "shell",
            choices=("bash", "zsh", "fish", "tcsh"),
            help='bash: add `eval "$(unified-state completion bash)"` to ~/.bashrc; others: keep it in a file',
        ),
        has_json=False,
    ),
}

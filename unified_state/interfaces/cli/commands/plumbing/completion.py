"""`completion SHELL`: a script that completes commands and options, generated from the parser itself."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_SHELLS = ("bash", "zsh", "tcsh")


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "shell", choices=_SHELLS, help='bash: add `eval "$(unified-state completion bash)"` to ~/.bashrc'
    )
    parser.set_defaults(run=_completion)


def _completion(arguments: Namespace) -> int:
    import shtab

    from unified_state.interfaces.cli.command_context import Context
    from unified_state.interfaces.cli.main import COMMANDS, build_parser

    parser = build_parser(list(COMMANDS))
    Context(as_json=False).write(shtab.complete(parser, shell=arguments.shell))
    return 0

"""The command `unified-state`: select the subcommand, parse its arguments, run it, and turn errors into exit codes.

Agents run it often, so it imports only what a subcommand needs and builds only its parser. Exit codes: 0 for success, 1
for a found problem or an expected error (one line: problem, place, remedy), 2 for a usage error, 3 for a bug, 130 for
^C.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys

from unified_state.errors import UnifiedStateError
from unified_state.interfaces.cli.command_table import ABOUT, COMMANDS, EXAMPLES, FORMER, PROGRAM, RENAMED
from unified_state.lib.fence import visible
from unified_state.lib.package import __version__
from unified_state.lib.processes import absolute_folders
from unified_state.settings import environment, set_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

_ALLOCATIONS = 100_000  # between garbage collections; most commands end before one pays off
BUG, INTERRUPTED, BROKEN_PIPE = 3, 130, 141


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one line, with the names that may be meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        from unified_state.interfaces.cli.suggestions import with_suggestion

        told = with_suggestion(message, self)
        more = f" See `{self.prog} --help`" if told.endswith("?") else f"; see `{self.prog} --help`"
        self.exit(2, f"{PROGRAM}: {visible(told)}{more}\n")

    def format_help(self) -> str:
        """Return the help, with bold headings on a terminal."""
        from unified_state.interfaces.cli.terminal import painted

        return painted(super().format_help(), "headings", sys.stdout)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit the process with its exit code."""
    gc.set_threshold(_ALLOCATIONS)
    set_variable("PATH", absolute_folders(environment()))  # no library searches for a program anywhere else
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # escape characters that the terminal lacks
    try:
        if not arguments or arguments[0] in {"-h", "--help"}:
            from unified_state.interfaces.cli.first_page import print_first_page

            return print_first_page(with_state=not arguments)
        parsed = _parse(_current(arguments))
        return int(parsed.run(parsed))
    except UnifiedStateError as error:
        from unified_state.memory.secrets.rules.mask import hide_secrets  # a message may quote a foreign file

        sys.stderr.write(f"{PROGRAM}: {visible(hide_secrets(str(error)))}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe (`| head`). Redirect stdout so that the interpreter's last flush does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  # the command line's edge: a bug becomes a report and exit 3
        from unified_state.upkeep.doctor.bug_report import report_bug

        sys.stderr.write(f"{PROGRAM}: {report_bug(error, arguments)}\n")
        return BUG


def build_parser(names: Sequence[str]) -> Parser:
    """Return the parser with the named subcommands complete, and the others with name and help only."""
    parser = Parser(prog=PROGRAM, description=ABOUT)
    parser.add_argument("-V", "--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, about) in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=about, description=_sentence(about))
        if name in names:
            _fill(subparser, name, module)
    return parser


def _fill(parser: Parser, name: str, module: str) -> None:
    """Add the arguments of a command, and its verbs."""
    from importlib import import_module

    commands = import_module(f"unified_state.interfaces.cli.commands.{module}").COMMANDS
    verbs = [words for words in commands if words.startswith(f"{name} ")]
    parser.epilog = _example(name)
    if name in commands:
        commands[name].fill(parser)
    if verbs:
        subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=name not in commands)
        for words in verbs:
            command = commands[words]
            about = {"help": command.about, "description": _sentence(command.about), "epilog": _example(words)}
            command.fill(subparsers.add_parser(words.split()[1], **about))


def _example(words: str) -> str | None:
    return f"example:\n  {EXAMPLES[words]}" if words in EXAMPLES else None


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    try:
        return _parser(arguments).parse_args(arguments)
    except SystemExit:
        if "hook" in arguments[:1]:
            raise SystemExit(0) from None  # the client refuses the user's prompt on exit code 2 of a hook
        raise


def _parser(arguments: Sequence[str]) -> Parser:
    """Return a parser with only the subcommand that this command line needs."""
    name = arguments[0] if arguments else ""
    if name in FORMER:
        module, about = FORMER[name][0], f"the old name of `{FORMER[name][1]}`"
    elif name in COMMANDS:
        module, about = COMMANDS[name]
    else:
        return build_parser([])
    parser = Parser(prog=PROGRAM)
    subparsers = parser.add_subparsers(dest="command", required=True)
    _fill(subparsers.add_parser(name, description=_sentence(about)), name, module)
    return parser


def _current(arguments: Sequence[str]) -> list[str]:
    """Return a command line with the present name of a command in place of an old one."""
    first, *rest = arguments
    if (first in RENAMED or first in FORMER) and sys.stderr.isatty():
        new = " ".join(RENAMED[first]) if first in RENAMED else FORMER[first][1]
        sys.stderr.write(f"{PROGRAM}: `{first}` is `{new}` now; the old name goes with the next version\n")
    return [*RENAMED.get(first, (first,)), *rest]


def _sentence(about: str) -> str:
    return about[0].upper() + about[1:] + "."


if __name__ == "__main__":
    main()

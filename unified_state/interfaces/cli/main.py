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
from unified_state.lib.fence import visible
from unified_state.lib.package import __version__
from unified_state.lib.processes import absolute_folders
from unified_state.model.item import ITEM_KINDS
from unified_state.settings import environment, set_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

PROGRAM = "unified-state"
_ALLOCATIONS = 100_000  # between garbage collections; most commands end before one pays off
BUG, INTERRUPTED, BROKEN_PIPE = 3, 130, 141

# Each subcommand, its module in `commands`, and its help.
COMMANDS = {
    "demo": ("demo", "the main job end to end on a bundled session, offline"),
    "install": ("install", "put the hooks into the client's settings"),
    "uninstall": ("install", "take the hooks out again; what was recorded stays"),
    "doctor": ("doctor", "check hooks, archive, settings and space"),
    "config": ("doctor", "show every setting, its value and where it comes from"),
    "link": ("doctor", "use the archive of another clone of this repository"),
    "status": ("state", "what is recorded here, in a few lines"),
    "context": ("compaction", "how full the context is, how it grew, and when the client will compact it"),
    "save": ("state", "save the state with git as it stands now"),
    "load": ("state", "show the state"),
    "age": ("state", "how long ago the state was saved, and which items still hold"),
    "validate": ("state", "check a state file against the schema and the archive"),
    "work": ("state", "say what this session works on"),
    **{name: ("items", kind.about) for name, kind in ITEM_KINDS.items()},
    "inbox": ("items", "what was captured or proposed and waits for you; accept or reject it"),
    "edit": ("items", "change the text or a field of an item"),
    "drop": ("items", "drop an item; it is not restored any more, and `reopen` brings it back"),
    "close": ("items", "close an open question, evidence or an attempt"),
    "reopen": ("items", "reopen what was closed, lifted, dropped or rejected"),
    "undo": ("items", "take the last edit, drop, closing, lift or decision in the inbox back"),
    "ingest": ("transfer", "archive sessions from transcript files or folders"),
    "import": ("transfer", "take in what other programs, machines or people kept"),
    "export": ("transfer", "print the archive as JSON Lines, one step (or item) a line"),
    "embed": ("embed", "make vectors of what steps mean, for searches by meaning"),
    "search": ("lookup", "find turns, steps and items"),
    "recall": ("lookup", "print an item, a turn, a step or a compaction whole"),
    "why": ("lookup", "where an item comes from: the words, the turn around them, what became of it"),
    "restore": ("compaction", "show what a session start would give back; changes nothing"),
    "survival": ("compaction", "what the summaries of compactions kept of the state, and what was told again"),
    "sync": ("sync", "bring the team's server up to date with what is archived here"),
    "forget": ("remove", "remove for good"),
    "prune": ("remove", "let go of old steps to have room; only when you ask"),
    "scan": ("remove", "look for secrets in what is archived"),
    "hook": ("hook_command", "handle one event of the client, its JSON on stdin"),
    "statusline": ("machine_commands", "print the status line, the client's JSON on stdin"),
    "mcp": ("machine_commands", "serve an agent's client by the model context protocol, on stdin and stdout"),
    "completion": ("machine_commands", "print the completion script for a shell"),
}
FORMER = {"proposed": ("items", "the same as `inbox`, by its former name")}  # not shown


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        self.exit(2, f"{PROGRAM}: {visible(message)}; see `{self.prog} --help`\n")


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
        parsed = _parse(arguments)
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


def build_parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser with the named subcommands complete, and the others with name and help only."""
    parser = Parser(
        prog=PROGRAM, description="The working memory of a coding agent that survives compaction.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (_, about) in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=about, description=_sentence(about), allow_abbrev=False)
        if name in names:
            _fill(subparser, name)
    return parser


def _fill(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the arguments of a command, and its verbs."""
    from importlib import import_module

    commands = import_module(f"unified_state.interfaces.cli.commands.{(COMMANDS | FORMER)[name][0]}").COMMANDS
    verbs = [words for words in commands if words.startswith(f"{name} ")]
    if name in commands:
        commands[name].fill(parser)
    if verbs:
        subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=name not in commands)
        for words in verbs:
            command = commands[words]
            command.fill(subparsers.add_parser(words.split()[1], help=command.about, allow_abbrev=False))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    try:
        return _parser(arguments).parse_args(arguments)
    except SystemExit:
        if "hook" in arguments[:1]:
            raise SystemExit(0) from None  # the client refuses the user's prompt on exit code 2 of a hook
        raise


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser with only the subcommands that this command line needs."""
    name = next((word for word in arguments if not word.startswith("-")), "")
    if name not in COMMANDS | FORMER:
        return build_parser([])
    parser = Parser(prog=PROGRAM, allow_abbrev=False)
    subparsers = parser.add_subparsers(dest="command", required=True)
    _fill(subparsers.add_parser(name, description=_sentence((COMMANDS | FORMER)[name][1]), allow_abbrev=False), name)
    return parser


def _sentence(about: str) -> str:
    return about[0].upper() + about[1:] + "."


if __name__ == "__main__":
    main()

"""The command line's parser of argparse. It has the arguments of the named command alone.

An error has the names that a mistyped one may mean: commands, verbs and choices.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from unified_state.extension import loaded
from unified_state.interfaces.cli.command_table import (
    ABOUT,
    ADDING,
    ALIASES,
    COMMANDS,
    NOUNS,
    PROGRAM,
    VERBS,
    all_commands,
    example_of,
)
from unified_state.lib.fence import visible
from unified_state.lib.package import __version__
from unified_state.model.item import DECISION
from unified_state.model.refs import kind_of, note_number


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one line, with the names that may be meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        told = with_suggestion(message)
        more = f" See `{self.prog} --help`" if told.endswith("?") else f"; see `{self.prog} --help`"
        self.exit(2, f"{PROGRAM}: {visible(told)}{more}\n")

    def format_help(self) -> str:
        """Return the help, with bold headings on a terminal."""
        from unified_state.interfaces.cli.terminal import painted

        return painted(super().format_help(), "headings", sys.stdout)


def build_parser(names: Sequence[str]) -> Parser:
    """Return the parser with the named subcommands complete, and the others with name and help only."""
    parser = Parser(prog=PROGRAM, description=ABOUT)
    parser.add_argument("-V", "--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, about) in all_commands().items():
        subparser = subparsers.add_parser(name, help=about, description=_sentence(about))
        if name in names:
            _fill(subparser, name, module)
    return parser


def commands_of(module: Any) -> Mapping[str, Any]:
    """Return the commands of a module by their words: of one of the folder `commands`, or of an extra's."""
    if isinstance(module, str) and ":" not in module:
        module = f"unified_state.interfaces.cli.commands.{module}:COMMANDS"
    found: Mapping[str, Any] = loaded(module)
    return found


def _fill(parser: Parser, name: str, module: Any) -> None:
    """Add the arguments of a command, and its verbs."""
    commands = commands_of(module)
    verbs = [words for words in commands if words.startswith(f"{name} ")]
    parser.epilog = _example(name)
    if name in commands:
        commands[name].fill(parser)
    if verbs:
        subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=name not in commands)
        for words in verbs:
            command = commands[words]
            about: dict[str, Any] = {
                "help": command.about,
                "description": _sentence(command.about),
                "epilog": _example(words),
            }
            command.fill(subparsers.add_parser(words.split()[1], **about))


def _example(words: str) -> str | None:
    example = example_of(words)
    return f"example:\n  {example}" if example else None


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the values of a command line, or print help or what is wrong with it, and exit."""
    try:
        words = meant(arguments)
        return _parser(words).parse_args(words)
    except SystemExit:
        if "hook" in arguments[:1]:
            raise SystemExit(0) from None  # the client refuses the user's prompt on exit code 2 of a hook
        raise


def meant(arguments: Sequence[str]) -> list[str]:
    """Return a command line in the words of this program: `decision add TEXT` is `add decision TEXT`, `rm D1` is
    `drop D1`. A text without a verb is added: one of several words, and any behind a word that asks for a text.
    """
    first, rest = arguments[0] if arguments else "", list(arguments[1:])
    if first in NOUNS:
        return _of_noun(first, rest)
    if first in {"add", "list"} and rest:
        kind = [DECISION, rest[0]] if first == "add" and " " in rest[0] else [NOUNS.get(rest[0], rest[0])]
        return [first, *kind, *rest[1:]]
    return [first, *rest] if first in COMMANDS else [*ALIASES.get(first, first).split(), *rest]


def _of_noun(noun: str, words: list[str]) -> list[str]:
    """Return a command line that names a kind first."""
    kind, first = NOUNS[noun], words[0] if words else "-"
    if first.startswith("-"):  # no verb
        is_text = noun in ADDING and words and not words[-1].startswith("-")
        return ["add" if is_text or any(" " in word for word in words) else "list", kind, *words]
    verb, *options = ALIASES.get(first, first).split(" ")
    if verb in {"add", "list"} and " " not in first:
        return [verb, kind, *words[1:]]
    if verb == "supersede":
        return ["add", kind, "--supersedes", *words[1:]]
    if kind == "compaction" or kind_of(first) or note_number(first):
        return ["show", *words, *(["--source"] if kind == "compaction" else [])]
    if " " in first or (noun in ADDING and verb not in VERBS):
        return ["add", kind, *words]
    return [verb if verb in VERBS else noun, *options, *words[1:]]


def _parser(arguments: Sequence[str]) -> Parser:
    """Return a parser with only the subcommand that this command line needs."""
    name = arguments[0] if arguments else ""
    row = COMMANDS.get(name) or all_commands().get(name)
    if name == "--completion":
        import shtab

        parser = build_parser(list(all_commands()))
        shtab.add_argument_to(parser, name)
        return parser
    if row is None:
        return build_parser([])
    module, about = row
    parser = Parser(prog=PROGRAM)
    subparsers = parser.add_subparsers(dest="command", required=True)
    _fill(subparsers.add_parser(name, description=_sentence(about)), name, module)
    return parser


def _sentence(about: str) -> str:
    return about[0].upper() + about[1:] + "."


_CHOICE = re.compile(
    r"argument (?P<name>[^:]+): invalid choice: (?P<given>.*?) \(choose from (?P<known>.*)\)", re.DOTALL
)
_MOST, _CLOSE = 2, 0.6  # names in a suggestion, and how alike they have to be
# Commands of other programs that are several here, or remove something.
_HINTS = {
    "audit": ["doctor --items"],
    "delete": ["drop", "forget"],
    "prune": ["forget --older-than"],
    "reset": ["undo", "forget"],
    "survival": ["list compactions"],
}


def with_suggestion(message: str) -> str:
    """Return an error of the parser, with the names that may be meant in place of a long list of all."""
    choice = _CHOICE.fullmatch(message)
    if choice is None:
        return message
    given = choice["given"].strip("'\"")
    if choice["name"] == "COMMAND":
        if given in NOUNS:
            return f"{given} has no such verb{_did_you_mean(['add', 'list'])}"
        hints = _HINTS.get(given) or _close(given, {*all_commands(), *ALIASES, *NOUNS})
        return f"there is no command {choice['given']}{_did_you_mean(hints)}"
    return message + _did_you_mean(_close(given, (name.strip("' ") for name in choice["known"].split(","))))


def _close(given: str, names: Iterable[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(given, list(names), _MOST, _CLOSE)


def _did_you_mean(names: list[str]) -> str:
    return f"; did you mean {' or '.join(f'`{name}`' for name in dict.fromkeys(names))}?" if names else ""

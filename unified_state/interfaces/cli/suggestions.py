"""The names that a mistyped one may mean: commands, verbs, options and choices."""

from __future__ import annotations

import argparse
import re

from unified_state.interfaces.cli.command_table import COMMANDS, FORMER, RENAMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CHOICE = re.compile(
    r"argument (?P<name>[^:]+): invalid choice: (?P<given>.*?) \(choose from (?P<known>.*)\)", re.DOTALL
)
_OPTIONS = re.compile(r"unrecognized arguments: (?P<given>--[\w-]+)")
_MOST, _CLOSE = 2, 0.6  # names in a suggestion, and how alike they have to be
# What people call a command that has another name here.
_MEANT = {
    "add": "decision add",
    "delete": "forget",
    "find": "search",
    "get": "show",
    "init": "install",
    "list": "status",
    "ls": "status",
    "remove": "forget",
    "rule": "constraint",
    "rules": "constraint list",
    "setup": "install",
}


def with_suggestion(message: str, parser: argparse.ArgumentParser) -> str:
    """Return an error of the parser, with the names that may be meant in place of a long list of all."""
    choice, option = _CHOICE.fullmatch(message), _OPTIONS.match(message)
    if choice:
        return _of_choice(message, choice)
    if option:
        return message + _did_you_mean(_close(option["given"], _options(parser)))
    return message


def _of_choice(message: str, choice: re.Match[str]) -> str:
    given = choice["given"].strip("'\"")
    if choice["name"] == "COMMAND":
        old = {name: words[0] for name, words in RENAMED.items()} | {name: new for name, (_, new) in FORMER.items()}
        known = {**_MEANT, **old, **{name: name for name in COMMANDS}}
        meant = [_MEANT[given]] if given in _MEANT else [known[name] for name in _close(given, known)]
        return f"there is no command {choice['given']}{_did_you_mean(meant)}"
    close = _close(given, (name.strip("' ") for name in choice["known"].split(",")))
    return message + _did_you_mean(close)


def _close(given: str, names: Iterable[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(given, list(names), _MOST, _CLOSE)


def _did_you_mean(names: list[str]) -> str:
    return f"; did you mean {' or '.join(f'`{name}`' for name in dict.fromkeys(names))}?" if names else ""


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way to its options
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for one in action.choices.values():
                yield from _options(one)

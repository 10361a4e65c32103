"""The manual page as roff, made of the same parsers as `--help`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from unified_state.interfaces.cli.argument_parser import build_parser
from unified_state.interfaces.cli.command_table import ABOUT, COMMANDS, EXAMPLES, FIRST_EXAMPLES, GROUPS, PROGRAM
from unified_state.lib.package import __version__

_EXIT_CODES = (
    ("0", "success; also where there is nothing to print"),
    ("1", "a finding, or an expected error: one line on stderr says what and what to do"),
    ("2", "a usage error"),
    ("3", "a bug of ours; the data folder holds a report"),
)
_VARIABLES = (
    ("NO_COLOR", "plain text on a terminal too"),
    ("PAGER", "shows output that is longer than the screen (less); empty or cat: none"),
    ("UNIFIED_STATE_NAME", "sets the setting NAME; `unified-state config` lists all"),
)
_FILES = (
    ("~/.config/unified-state/config.toml", "your settings"),
    ("~/.local/share/unified-state/", "archives of all repositories"),
    (".claude/unified-session-state.json", "the state file of a worktree"),
)


def manual() -> str:
    """Return the manual page."""
    parsers = dict(_subparsers(build_parser(list(COMMANDS))))
    lines = [f'.TH {PROGRAM.upper()} 1 "" "{PROGRAM} {__version__}"', ".SH NAME", f"{_text(PROGRAM)} \\- {_about()}"]
    lines += [".SH SYNOPSIS", f".B {_text(PROGRAM)}", ".I COMMAND", "[\\fIARGUMENT\\fR ...]"]
    lines += [
        ".SH DESCRIPTION",
        _text(
            f"Hooks archive every turn of a coding agent, and give it back what a compaction of the "
            f"conversation lost. {PROGRAM} alone shows the usual commands and this project."
        ),
    ]
    for title, rows in GROUPS.items():
        lines.append(f'.SH "{title.upper()}"')
        for name, (_, about) in rows.items():
            lines += [f".SS {_text(name)}", _sentence(about), *_command(name, parsers[name])]
    lines += [".SH EXAMPLES", *(line for name in FIRST_EXAMPLES for line in (".PP", f".B {_text(EXAMPLES[name])}"))]
    for title, terms in (("EXIT STATUS", _EXIT_CODES), ("ENVIRONMENT", _VARIABLES), ("FILES", _FILES)):
        lines += [f'.SH "{title}"', *(line for term, about in terms for line in _term(term, about))]
    return "\n".join(lines)


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    verbs = list(_subparsers(parser))
    for words, sub in [(f"{name} {verb}", one) for verb, one in verbs] or [(name, parser)]:
        if words != name:
            yield from (".PP", f".B {_text(words)}", ".br", _sentence(sub.description or ""))
        for action in sub._actions:  # noqa: SLF001  # argparse has no other way to its arguments
            is_shown = action.dest != "help" and action.help != argparse.SUPPRESS
            if is_shown and not isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
                yield from _term(_spelled(action), action.help or "")


def _term(term: str, about: str) -> tuple[str, ...]:
    return (".TP", f".B {_text(term)}", _text(about.replace("%%", "%")) or "\\&")


def _spelled(action: argparse.Action) -> str:
    """Return an argument as users type it: `--limit N`, `REF`."""
    choices = ",".join(map(str, action.choices)) if action.choices and not action.metavar else ""
    value = str(action.metavar or choices or action.dest.upper())
    if not action.option_strings:
        return value
    names = ", ".join(name for name in action.option_strings if name.startswith("--"))
    if action.nargs == "?":
        return f"{names} [{value}]"
    return names if action.nargs == 0 else f"{names} {value}"


def _subparsers(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            yield from action.choices.items()


def _about() -> str:
    return _text(ABOUT[0].lower() + ABOUT[1:].removesuffix("."))


def _sentence(text: str) -> str:
    text = text.removesuffix(".")
    return _text(f"{text[:1].upper()}{text[1:]}.")


def _text(text: str) -> str:
    """Return plain text as roff: no line of it is a request, and a dash is one that can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("\n", " ")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped

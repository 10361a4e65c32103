"""The reference of the command line as Markdown, from the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from unified_state.interfaces.cli.argument_parser import build_parser
from unified_state.interfaces.cli.command_table import all_commands

# Of many commands, so that the page describes them once.
_ONCE = {
    ("TEXT", "`-` reads it from stdin"),
    ("ID", "an item: D7 C3 Q1 E12 A2 N5"),
    ("--all", "also superseded, resolved and dismissed ones"),
}


def commands() -> str:
    """Every command with its arguments."""
    parser = build_parser(list(all_commands()))
    return "\n\n".join(_command(name, sub) for name, sub in subparsers_of(parser))


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    """The synopsis of a command or of its verbs, and one list of all arguments; a bare command has neither."""
    about = all_commands()[name][1]
    parsers = list(subparsers_of(parser)) or [("", parser)]
    synopses = [" ".join([sub.prog, *_synopses(sub, _actions(sub, verb), verb)]) for verb, sub in parsers]
    parts = [f"## {name}", f"{about[0].upper()}{about[1:]}."]
    if synopses != [parser.prog]:
        parts.append("\n".join(["```text", *synopses, "```"]))
    if rows := list(_rows(parsers)):
        parts.append(described(rows))
    return "\n\n".join(parts)


def _actions(parser: argparse.ArgumentParser, verb: str) -> list[argparse.Action]:
    """The arguments of a parser, without those that the page describes once."""
    once = {"help", "json", "session", "session_id"} if verb else {"help", "json"}
    return sorted((action for action in parser._actions if action.dest not in once), key=_position)


def _rows(parsers: Sequence[tuple[str, argparse.ArgumentParser]]) -> Iterator[tuple[str, str]]:
    """Each argument once. Verbs that give it another meaning are named."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for verb, parser in parsers:
        for action in _actions(parser, verb):
            verbs.setdefault((_spelled(action), _meaning(action)), []).append(verb)
    spellings = [spelled for spelled, _ in verbs]
    for (spelled, meaning), users in verbs.items():
        of = f" ({', '.join(users)})" if spellings.count(spelled) > 1 else ""
        if meaning and (spelled, meaning) not in _ONCE:
            yield f"`{spelled}`{of}", meaning


def _position(action: argparse.Action) -> tuple[bool, bool]:
    """Required before optional arguments, positions before options."""
    return bool(action.option_strings), not action.required


def _synopses(parser: argparse.ArgumentParser, actions: Sequence[argparse.Action], verb: str) -> Iterator[str]:
    """Every argument; of those that exclude each other, all together. The options of a bare command are `[OPTIONS]`."""
    groups = {action: group for group in parser._mutually_exclusive_groups for action in group._group_actions}
    free = [action for action in actions if action.option_strings and not action.required and action not in groups]
    shown: set[argparse.Action] = set()
    if free and not verb:
        yield "[OPTIONS]"
        shown.update(free)
    for action in actions:
        if action in shown:
            continue
        if action not in groups:
            yield _synopsis(action)
        else:
            group = groups[action]
            shown.update(group._group_actions)
            choice = " | ".join(map(_spelled, group._group_actions))
            yield f"({choice})" if group.required else f"[{choice}]"


def _synopsis(action: argparse.Action) -> str:
    spelled = _spelled(action)
    required = action.required if action.option_strings else action.nargs != "?"
    repeated = " …" if isinstance(action, argparse._AppendAction) or action.nargs == "+" else ""
    return f"{spelled}{repeated}" if required else f"[{spelled}]{repeated}"


def _spelled(action: argparse.Action) -> str:
    """An argument as users type it: `--limit N`, `REF`, `{bash,zsh}`."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices and not action.metavar else ""
    value = str(action.metavar or choices or action.dest.upper())
    if not action.option_strings:
        return value
    if action.nargs == 0:
        return ", ".join(action.option_strings)  # `--name, --no-name`
    return f"{action.option_strings[0]} [{value}]" if action.nargs == "?" else f"{action.option_strings[0]} {value}"


def _meaning(action: argparse.Action) -> str:
    text = (action.help or "").replace("%%", "%")
    repeated = "repeatable" if isinstance(action, argparse._AppendAction) and "repeatable" not in text else ""
    needed = "required" if action.required and action.option_strings else ""
    default = (
        f"default: {action.default}"
        if action.choices and action.default not in (None, "", argparse.SUPPRESS) and "default" not in text
        else ""
    )
    return "; ".join(filter(None, (text, repeated, needed, default)))


def subparsers_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The commands or verbs of a parser, each with its own parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def described(rows: Sequence[tuple[str, str]]) -> str:
    """A list of names, each with its meaning: it has fewer signs than a table."""
    return "\n".join(f"* {name}: {meaning}" for name, meaning in rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    head_and_rows = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    return "\n".join([head_and_rows[0], f"|{'---|' * len(head)}", *head_and_rows[1:]])

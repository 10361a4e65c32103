"""The commands in a line of the shell by their names: without what stands before them, and without redirections; and
when two lines are the same command.

A line that is too deep to be read has no commands.
"""

from __future__ import annotations

from unified_state.lib.shell.parse import read_commands
from unified_state.lib.shell.shell_words import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.lib.shell.parse import SimpleCommand

_LONGEST = 20_000  # characters of a command that are looked at
_KEY_CHARACTERS = 500
_NO_MATTER = (" 2>&1",)
_BEFORE = frozenset(
    ("sudo", "env", "time", "command", "then", "do", "else", "!", "{")
)  # that a command may stand behind


def simple_commands(line: str) -> Iterator[list[str]]:
    """The words of each simple command, from its name on; those of its substitutions too."""
    for pipeline in pipelines(line):
        yield from pipeline


def pipelines(line: str) -> Iterator[list[list[str]]]:
    """The simple commands of each pipeline: what one prints the next one reads. A file on stdin counts as named."""
    return chained(_commands(line))


def chained(commands: list[SimpleCommand]) -> Iterator[list[list[str]]]:
    """The same of commands that were read already."""
    chains: dict[int, list[list[str]]] = {}  # by the command that a chain ends with so far
    found = []
    for command in commands:
        chain = chains.pop(id(command.feeder), None)
        if chain is None:
            chain = []
            found.append(chain)
        chains[id(command)] = chain
        words = command.words
        begin = next((at for at, word in enumerate(words) if word not in _BEFORE and "=" not in word), len(words))
        if begin < len(words):
            chain.append(words[begin:] + command.sources)
    yield from filter(None, found)


def _commands(line: str) -> list[SimpleCommand]:
    try:
        return read_commands(line[:_LONGEST])
    except UnreadableError:
        return []


def command_key(command: str) -> str:
    """The command as it is compared with others: white space and where its errors go do not matter."""
    key = " ".join(command.split())
    for ending in _NO_MATTER:
        key = key.removesuffix(ending)
    return key[:_KEY_CHARACTERS]

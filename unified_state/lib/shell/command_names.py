"""The commands in a line of the shell, and the programs that they run."""

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


_KEYWORDS = {"if", "while"}  # what comes behind is what runs
_NO_PROGRAMS = {"cd", "done", "echo", "export", "fi", "for", "set"}
_PRINTERS = {"ack", "awk", "cat", "curl", "diff", "find", "gh", "git", "grep", "head", "jq", "less", "ls", "rg", "sed"}
_PRINTERS |= {"strings", "tail", "tree", "wc"}
_WORDS_LOOKED_AT = 6


def programs(command: str) -> Iterator[str]:
    """The programs of a command by their first two words: `go test`, `git log`."""
    for words in _parts(command):
        if len(words) > 1 and words[1][0].isalpha() and all(map(_is_plain_word, words)):
            yield " ".join(words)


def only_prints(command: str) -> bool:
    """Whether a command shows what lies somewhere: errors in its output are not its own."""
    return all(words[0].rsplit("/", 1)[-1] in _PRINTERS for words in _parts(command))


def _parts(command: str) -> Iterator[list[str]]:
    """The first two words of each simple command, without keywords and assignments."""
    for part in simple_commands(command):
        words = [word for word in part[:_WORDS_LOOKED_AT] if "=" not in word and word not in _KEYWORDS]
        if words and words[0] not in _NO_PROGRAMS:
            yield words[:2]


def _is_plain_word(word: str) -> bool:
    return word.isascii() and word.replace("-", "").replace("_", "").replace(".", "").replace(":", "").isalnum()

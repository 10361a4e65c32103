"""The programs that a command of the shell runs."""

from __future__ import annotations

from unified_state.lib.shell.command_names import simple_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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

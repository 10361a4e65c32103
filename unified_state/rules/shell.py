"""Shell commands as far as rules must understand them: the simple commands in a line, and when two lines are the same
command.

It is no shell: what it does not understand gives words that no rule looks for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDS = frozenset("\n;&|()")
_QUOTES = frozenset("'\"`")
_LONGEST = 20_000  # characters of a command that are looked at
_KEY_CHARACTERS = 500
_NO_MATTER = (" 2>&1",)
_BEFORE = frozenset(
    ("sudo", "env", "time", "command", "then", "do", "else", "!", "{")
)  # that a command may stand behind


def simple_commands(line: str) -> Iterator[list[str]]:
    """The words of each simple command, from its name on; what stands in quotes is one word, a heredoc is none."""
    for pipeline in pipelines(line):
        yield from pipeline


def pipelines(line: str) -> Iterator[list[list[str]]]:
    """The simple commands of each pipeline: what one prints the next one reads."""
    pipeline: list[list[str]] = []
    for words, is_piped in _commands(line):
        begin = next((at for at, word in enumerate(words) if word not in _BEFORE and "=" not in word), len(words))
        if begin < len(words):
            pipeline.append(words[begin:])
        if not is_piped and pipeline:
            yield pipeline
            pipeline = []
    if pipeline:
        yield pipeline


def _commands(line: str) -> Iterator[tuple[list[str], bool]]:
    """The words of each command, and whether the next one reads what it prints."""
    words: list[str] = []
    word: list[str] = []
    text = _without_heredocs(line[:_LONGEST])
    position = 0
    while position < len(text):
        sign = text[position]
        if sign in _QUOTES:
            end = _closing(text, position)
            word.append(text[position + 1 : end])
            position = end
        elif sign == "\\" and position + 1 < len(text):
            position += 1
            word.append("" if text[position] == "\n" else text[position])
        elif (sign in _ENDS and not _redirects(text, position)) or sign.isspace():
            if word:
                words.append("".join(word))
                word = []
            if sign in _ENDS and words:
                yield words, sign == "|" and text[position + 1 : position + 2] != "|"
                words = []
        else:
            word.append(sign)
        position += 1
    if word:
        words.append("".join(word))
    if words:
        yield words, False


def command_key(command: str) -> str:
    """The command as it is compared with others: white space and where its errors go do not matter."""
    key = " ".join(command.split())
    for ending in _NO_MATTER:
        key = key.removesuffix(ending)
    return key[:_KEY_CHARACTERS]


def _redirects(text: str, position: int) -> bool:
    """Whether an `&` says where output goes, as in `2>&1` and `&>`."""
    return text[position] == "&" and ">" in {text[position - 1 : position], text[position + 1 : position + 2]}


def _closing(text: str, begin: int) -> int:
    """Where the quote ends that begins there; the end of the text where it does not."""
    quote = text[begin]
    position = begin + 1
    while position < len(text) and text[position] != quote:
        position += 2 if text[position] == "\\" and quote != "'" else 1
    return min(position, len(text))


def _without_heredocs(text: str) -> str:
    """The text without the lines of its heredocs."""
    if "<<" not in text:
        return text
    kept, ending = [], ""
    for line in text.split("\n"):
        if ending:
            if line.strip() == ending:
                ending = ""
            continue
        kept.append(line)
        _, found, after = line.partition("<<")
        if found and not after.startswith("<"):
            name = after.lstrip("-").strip().split(None, 1)
            ending = "".join(sign for sign in name[0] if sign.isalnum() or sign == "_") if name else ""
    return "\n".join(kept)

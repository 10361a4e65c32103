"""What an agent needed after a compaction, read from what it did then; and whether a text holds that.

Everything is found by the regular expressions of this file alone. The product shares none of them, so it is not
measured by its own idea of a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from benchmarks.transcripts import Call, strings

_FILE = re.compile(r"(?<![\w./-])(?:[\w.@~-]*/)*[\w.@-]+\.[A-Za-z][A-Za-z0-9]{0,6}(?![\w/])")
# fmt: off
_FILE_ENDINGS = frozenset([
    "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "env", "fish", "go", "h", "hpp", "html", "ini",
    "java", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "m", "md", "mjs", "mod", "php", "pl", "proto",
    "ps1", "py", "pyi", "rb", "rs", "rst", "scala", "scss", "sh", "sql", "sum", "svelte", "swift", "tf", "toml", "ts",
    "tsx", "txt", "vue", "xml", "yaml", "yml", "zsh",
])
# fmt: on
_SYMBOL = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z][a-z0-9]*[A-Z][A-Za-z0-9]*|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+)(?![\w/-]|\.\w+/)"
)
_ISSUE = re.compile(r"(?<![\w&])#\d{1,6}\b")
_COMMIT = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_URL = re.compile(r"https?://[^\s\"'<>)\]}]+")
_ERROR = re.compile(
    r"(?i)(?:\S+:\d+(?::\d+)?: |-+ fail: |\[?\w*(?:error|exception)\]?\b|fatal\b|panic\b|failed\b|e {2})"
)
_WRONG = re.compile(r"(?i)error|fail|panic|undefined|fatal|exception|expected|\bgot\b|cannot")
_NO_PROGRAMS = {"cd", "do", "done", "echo", "else", "for", "if", "then", "while"}

_NEXT = 3  # edits that are looked at


def entities(text: str) -> set[str]:
    """The files (by name), symbols, issues, commits and URLs in a text."""
    rest = _URL.sub(" ", text)
    files = {found.rsplit("/", 1)[-1] for found in _FILE.findall(rest) if _is_file(found)}
    references = {*_URL.findall(text), *_ISSUE.findall(rest), *_COMMIT.findall(rest)}
    return references | files | {symbol for symbol in _SYMBOL.findall(rest) if _is_symbol(symbol)}


def holds(text: str, entity: str) -> bool:
    """Whether a text holds an entity as a whole word."""
    position = text.find(entity)
    while position >= 0:
        end = position + len(entity)
        if not _is_word(text[position - 1 : position]) and not _is_word(text[end : end + 1]):
            return True
        position = text.find(entity, position + 1)
    return False


def holds_together(units: Iterable[str], pair: tuple[str, str]) -> bool:
    """Whether one of the units holds both of a pair."""
    return any(holds(unit, pair[0]) and holds(unit, pair[1]) for unit in units)


def in_one_line(text: str) -> str:
    """A text with every run of white space as one space."""
    return " ".join(text.split())


def programs(calls: Iterable[Call]) -> set[str]:
    """The programs that were run, by their first two words (`go test`, `git log`)."""
    found = set()
    for call in calls:
        for part in re.split(r"&&|;|\|", call.command):
            words = [word for word in part.split() if "=" not in word]
            if len(words) > 1 and words[0].isalnum() and words[0] not in _NO_PROGRAMS and words[1][:1].isalpha():
                found.add(f"{words[0]} {words[1]}")
    return found


def edited_pairs(calls: Iterable[Call]) -> set[tuple[str, str]]:
    """Each edited file with each symbol in the text that was replaced."""
    return {(file, symbol) for file, old in _edits(calls) for symbol in _symbols(old)}


def seen_pairs(calls: Iterable[Call]) -> set[tuple[str, str]]:
    """The files with the symbols that stood in them when they were read, searched or edited."""
    pairs = set()
    for call in calls:
        if call.file is not None:
            text = "\n".join([*strings(call.given), call.result])
            pairs |= {(call.file, symbol) for symbol in _SYMBOL.findall(text)}
        elif call.tool == "Grep":
            for line in call.result.splitlines():
                path, _, rest = line.partition(":")
                pairs |= {(path.rsplit("/", 1)[-1], symbol) for symbol in _SYMBOL.findall(rest)}
    return pairs


def next_edits(calls: Iterable[Call], seen: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first places, of those seen before, that are edited: the file, and the longest symbol that stands there."""
    known = (
        (file, sorted(symbol for symbol in _symbols(old) if (file, symbol) in seen)) for file, old in _edits(calls)
    )
    return list(dict.fromkeys((file, max(symbols, key=len)) for file, symbols in known if symbols))[:_NEXT]


def _edits(calls: Iterable[Call]) -> Iterator[tuple[str, str]]:
    """The file and the text that is replaced, of every edit."""
    for call in calls:
        old = call.given.get("old_string")
        if call.file is not None and isinstance(old, str):
            yield call.file, old


def _symbols(text: str) -> set[str]:
    return {entity for entity in entities(text) if _SYMBOL.fullmatch(entity)}


def _is_symbol(found: str) -> bool:
    return 4 <= len(found) <= 60 and not found.isupper()


def _is_file(found: str) -> bool:
    return found.rsplit(".", 1)[-1].lower() in _FILE_ENDINGS and len(found) < 200


def is_error(line: str) -> bool:
    """Whether a line of an output reports an error."""
    line = line.strip()
    return 15 < len(line) < 200 and _ERROR.match(line) is not None and _WRONG.search(line) is not None


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"

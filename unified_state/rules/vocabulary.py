"""The words of code in a text: identifiers, paths, references. What an agent needs again after a compaction is mostly
these.

An archive sees megabytes of text, so this is done without regular expressions: bytes are translated so that everything
but the characters of a word becomes a space, and split. Identifiers are words that no prose has: with an underscore or
with capitals inside.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DOT, _UNDERSCORE = b".", b"_"
_NINE = ord("9")
_SHORTEST, _LONGEST = 4, 60  # characters of an identifier
_LONGEST_PATH = 160
_LONGEST_URL = 200
_LONGEST_ISSUE = 7  # characters; no tracker has ten million issues
_SHORT_COMMIT, _FULL_COMMIT = 7, 40
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
# Endings by which a word without a slash is taken for a file.
_ENDINGS = """
bash c cc cfg conf cpp cs css csv env fish go gradle h hpp html ini ipynb java js json jsonl jsx kt lock log lua m md
mjs mod php pl properties proto ps1 py pyi rb rs rst scala scss sh sql sum svelte swift tf toml ts tsx txt vue xml yaml
yml zig zsh
"""
_FILE_ENDINGS = frozenset(_ENDINGS.encode().split())


def _only(kept: bytes) -> bytes:
    """A table for `bytes.translate` that turns all other bytes into spaces."""
    return bytes([byte if byte in kept else 0x20 for byte in range(256)])


_WORDS = _only(_LETTERS + _DIGITS + b"_")
_PATHS = _only(_LETTERS + _DIGITS + b"_./@~+-#")


def identifiers(text: str) -> set[str]:
    """The identifiers in a text."""
    return _identifiers(set(text.encode("ascii", "replace").translate(_WORDS).split()))


def words_of(text: str) -> tuple[set[str], set[str], set[str]]:
    """The identifiers in a text, its file paths, and its references: issues (`#12`), commits, URLs."""
    references = set(_urls(text)) if "://" in text else set()
    for url in references:
        text = text.replace(url, " ")
    words = set(text.encode("ascii", "replace").translate(_PATHS).split())
    # Most words are plain ones: they are told apart here, without a call for each.
    telling = [word for word in words if not word.isalpha() or not word.islower()]
    paths = set()
    for word in telling:
        if _DOT in word:
            path = _path(word.decode()) if _ending(word) in _FILE_ENDINGS else None
            if path is not None:
                paths.add(path)
        elif _is_issue(word) or _is_commit(word):
            references.add(word.decode())
    return _identifiers(set(b" ".join(telling).translate(_WORDS).split())), paths, references


def relative_path(path: str, root: str) -> str:
    """The path as the repository names it, where it lies in the repository."""
    return path[len(root) + 1 :] if root and path.startswith(root + "/") else path


def _identifiers(words: set[bytes]) -> set[str]:
    candidates = [word for word in words if not word.islower() or _UNDERSCORE in word]
    return {word.decode() for word in candidates if _is_identifier(word)}


def _is_identifier(word: bytes) -> bool:
    if not _SHORTEST <= len(word) <= _LONGEST or word[0] <= _NINE:  # begins with a digit
        return False
    if _UNDERSCORE in word:
        return not word.strip(b"_").isdigit() and len(word.strip(b"_")) >= _SHORTEST
    return not (word.islower() or word.isupper() or word.istitle()) and word.isalnum()


def _is_issue(word: bytes) -> bool:
    return word[:1] == b"#" and word[1:].isdigit() and len(word) <= _LONGEST_ISSUE


def _is_commit(word: bytes) -> bool:
    if not _SHORT_COMMIT <= len(word) <= _FULL_COMMIT or not word.isalnum() or not word.islower():
        return False
    try:
        int(word, 16)
    except ValueError:
        return False
    return True


def _ending(word: bytes) -> bytes:
    return word.rstrip(b".,#-+@~").rpartition(b".")[2].lower()


def _path(word: str) -> str | None:
    """The path that a word with the ending of a file is."""
    path = word.strip(".,#-+@~") if word[:1] != "." else word.rstrip(".,#-+@~")
    path = path.removeprefix("./")
    stem = path.rsplit("/", 1)[-1].rpartition(".")[0]
    return path if stem and len(path) <= _LONGEST_PATH and "//" not in path else None


def _urls(text: str) -> Iterator[str]:
    for part in text.split("http")[1:]:
        url = "http" + part.split(None, 1)[0] if part.strip() else ""
        for end in "\"'<>)]}`,;\\":
            url = url.split(end, 1)[0]
        if url.startswith(("http://", "https://")) and 12 < len(url) <= _LONGEST_URL:  # noqa: PLR2004  # a host at least
            yield url.rstrip(".:*")


def with_known_files(words: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """For each word that is the end of exactly one known path, that path: `hooks.py` is `src/hooks.py`."""
    by_name: dict[str, list[str]] = {}
    for path in known:
        by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    found = {}
    for word in words:
        matches = [
            path for path in by_name.get(word.rsplit("/", 1)[-1], []) if path == word or path.endswith("/" + word)
        ]
        if len(matches) == 1:
            found[word] = matches[0]
    return found

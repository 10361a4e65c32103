"""The words of code in a text: identifiers and paths. After a compaction an agent needs these most.

An archive has megabytes of text, so no regular expressions are used: bytes are translated so that everything except the
characters of a word becomes a space, and split. Most words recur, so each is classified once. Identifiers are words
that do not occur in prose: with an underscore or with capitals inside. Letters are those of Latin-1. All other
characters separate words, as Chinese has no spaces.
"""

from __future__ import annotations

from functools import lru_cache

from unified_state.lib.text import only_bytes

_CHARSET = "latin-1"
_SHORTEST, _LONGEST = 4, 60  # characters of an identifier
_LONGEST_PATH = 160
_MOST_WORDS = 50_000  # size of the cache of meanings
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# all except the signs of multiplication and division
_ACCENTED = bytes(byte for byte in range(0xC0, 0x100) if byte not in b"\xd7\xf7")
_DIGITS = b"0123456789"
# Endings by which a word without a slash is recognized as a file.
_ENDINGS = """
bash c cc cfg conf cpp cs css csv env fish go gradle h hpp html ini ipynb java js json jsonl jsx kt lock log lua m md
mjs mod php pl properties proto ps1 py pyi rb rs rst scala scss sh sql sum svelte swift tf toml ts tsx txt vue xml yaml
yml zig zsh
"""
_FILE_ENDINGS = frozenset(_ENDINGS.encode().split())


_WORDS = only_bytes(_LETTERS + _ACCENTED + _DIGITS + b"_")


def identifiers(text: str) -> set[str]:
    """Return the identifiers in a text."""
    words = _without_escapes(text).encode(_CHARSET, "replace").translate(_WORDS).split()
    return set(filter(None, map(_identifier, words)))


def _without_escapes(text: str) -> str:
    """Return the text without escaped newlines and tabs, whose letter would look like part of the next word."""
    return text.replace("\\n", " ").replace("\\t", " ") if "\\" in text else text


def is_file(word: str) -> bool:
    """Return whether a word has the ending of a file."""
    path = word.encode(_CHARSET, "replace")
    return _ending(path) in _FILE_ENDINGS and len(path) <= _LONGEST_PATH and len(path.split()) == 1


def relative_path(path: str, root: str) -> str:
    """Return the path relative to the root if it is inside, else unchanged. It has slashes on Windows too."""
    if _is_on_windows(root):
        path, root = path.replace("\\", "/"), root.replace("\\", "/")
        is_inside = path[: len(root) + 1].lower() == f"{root}/".lower()
    else:
        is_inside = root != "" and path.startswith(f"{root}/")
    inner = path[len(root) + 1 :] if is_inside else ""
    return inner or path


def with_slashes(text: str, root: str) -> str:
    """Return a text written on Windows with relative paths and slashes; any other text unchanged."""
    return text.replace(f"{root}\\", "").replace("\\", "/") if _is_on_windows(root) else text


def _is_on_windows(folder: str) -> bool:
    return folder[1:3] == ":\\" or folder[:2] == "\\\\"


def _is_prose(word: bytes) -> bool:
    """Return whether a word is ordinary prose: letters in one case or with an initial capital, or a number."""
    return word.isdigit() or (word.isalpha() and (word.islower() or word.istitle() or word.isupper()))


@lru_cache(_MOST_WORDS)
def _identifier(word: bytes) -> str | None:
    """Return the word itself if it is an identifier, else None."""
    if _is_prose(word):
        return None
    name = word.decode(_CHARSET)
    if not _SHORTEST <= len(name) <= _LONGEST or name[0].isdigit():
        return None
    if "_" in name:
        core = name.strip("_")
        return name if len(core) >= _SHORTEST and not core.isdigit() else None
    return None if name.islower() or name.isupper() or name.istitle() else name


def _ending(word: bytes) -> bytes:
    return word.rpartition(b".")[2].lower()


_AROUND = "`'\"()[]{}<>,;:!?*"
_LONGEST_SUFFIX = 10
_MOST = 20


def mentioned_files(text: str) -> tuple[str, ...]:
    """Return the words of a text that look like file names, without the punctuation around them."""
    found: dict[str, None] = {}
    for word in text.split():
        bare = word.strip(_AROUND)
        path = bare.rstrip(".")
        if _looks_like_path(path) and not _is_abbreviation(bare):
            found[path.split(":", 1)[0]] = None  # `file.py:12`
        if len(found) == _MOST:
            break
    return tuple(found)


def _is_abbreviation(word: str) -> bool:
    """Return whether a word consists of single letters with a dot after each, such as e.g. or i.e."""
    return word.endswith(".") and all(len(letter) == 1 for letter in word[:-1].split("."))


def _looks_like_path(word: str) -> bool:
    if "://" in word or len(word) > 300:  # noqa: PLR2004  # longer than any path, but not than base64
        return False
    name = word.split(":", 1)[0].rsplit("/", 1)[-1]
    stem, dot, suffix = name.rpartition(".")
    return bool(stem and dot and suffix.isalnum() and not suffix.isdigit() and len(suffix) <= _LONGEST_SUFFIX)

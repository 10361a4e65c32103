"""Which files a text speaks of: words that look like a path."""

from __future__ import annotations

_AROUND = "`'\"()[]{}<>,;:!?*"
_LONGEST_SUFFIX = 10
_MOST = 20


def mentioned_files(text: str) -> tuple[str, ...]:
    """The words of a text that look like the name of a file, without the signs round them."""
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
    """Whether it is single letters with a dot behind each: e.g. this."""
    return word.endswith(".") and all(len(letter) == 1 for letter in word[:-1].split("."))


def _looks_like_path(word: str) -> bool:
    if "://" in word or len(word) > 300:  # noqa: PLR2004  # no path is that long, base64 is
        return False
    name = word.split(":", 1)[0].rsplit("/", 1)[-1]
    stem, dot, suffix = name.rpartition(".")
    return bool(stem and dot and suffix.isalnum() and not suffix.isdigit() and len(suffix) <= _LONGEST_SUFFIX)

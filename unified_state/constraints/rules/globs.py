"""Patterns of a scope. `*` matches any characters, `?` one character, and `**` any number of folders.

There are no regular expressions, so a match takes at most the product of both lengths for every pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def has_wildcard(pattern: str) -> bool:
    """Return whether a pattern can match more than one text."""
    return "*" in pattern or "?" in pattern


def glob_matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches a whole text."""
    if not has_wildcard(pattern):
        return pattern == text
    return _fits(pattern, text, "*", lambda wanted, sign: wanted in ("?", sign))


def path_matches(pattern: str, path: str) -> bool:
    """Return whether a pattern matches a path, or a folder that contains the path.

    The path uses `/` and is relative to the pattern's root. A pattern without `/` matches at any depth, as in
    .gitignore.
    """
    wanted = _segments(pattern)
    if "/" not in pattern.rstrip("/"):
        wanted.insert(0, "**")
    names = path.split("/")
    return any(_fits(wanted, names[:count], "**", glob_matches) for count in range(1, len(names) + 1))


def lies_within(pattern: str, folder: str) -> bool:
    """Return whether all matches of a pattern with a fixed beginning are in a folder (`.`: the root; `src/*`)."""
    fixed = []
    for name in _segments(pattern):
        if has_wildcard(name):
            break
        fixed.append(name)
    names = [] if folder == "." else folder.split("/")
    return "/" in pattern.rstrip("/") and len(names) <= len(fixed) and all(map(glob_matches, names, fixed))


def _segments(pattern: str) -> list[str]:
    return [name for name in pattern.split("/") if name not in ("", ".")]


def _fits(pattern: Sequence[str], text: Sequence[str], star: str, is_same: Callable[[str, str], bool]) -> bool:
    """Return whether the whole text matches. Only the last star is retried, so the time stays bounded."""
    wanted = at = after_star = begun = 0
    while at < len(text):
        if wanted < len(pattern) and pattern[wanted] == star:
            wanted += 1
            after_star, begun = wanted, at
        elif wanted < len(pattern) and is_same(pattern[wanted], text[at]):
            wanted, at = wanted + 1, at + 1
        elif after_star:
            begun += 1
            wanted, at = after_star, begun
        else:
            return False
    return all(sign == star for sign in pattern[wanted:])

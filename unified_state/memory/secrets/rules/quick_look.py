"""A quick look that recognizes most short texts as free of secrets without loading the rules, which takes milliseconds.

Each condition below is wider than the rules it stands for: where the look says no, the rules find nothing.
"""

from __future__ import annotations

_LONGEST = 10_000  # characters
_SHORTEST_RUN = 20  # characters of every token in a row, as in `secret_tokens`
_RUN = "x" * _SHORTEST_RUN
# Private parts, control sequences, options, key blocks, webhooks, passwords in URLs and netrc files, Dockerfiles.
_SIGNS = ("<", "\x1b", "\x9b", "\\", " -", "--", "PRIVATE KEY", "hook", "@", "1//0", "machine ", "ENV")
# Parts of all names of secrets, in lower case, and the signs that assign a value to one.
_NAMES = ("pass", "pwd", "secret", "token", "credential", "key", "auth", "pat", "creds", "cookie", "sig")
_ASSIGNS = ("=", ":")


def may_need_masking(text: str) -> bool:
    """Return False only if a text has no secret and no private part."""
    if len(text) > _LONGEST or any(sign in text for sign in _SIGNS):
        return True
    if any(sign in text for sign in _ASSIGNS):
        lower = text.lower().replace("_", "").replace("-", "")  # as the rules read a name
        if any(name in lower for name in _NAMES):
            return True
    return any(len(word) >= _SHORTEST_RUN and _has_run(word) for word in text.split())


def _has_run(word: str) -> bool:
    """Return whether a word has as many characters of a token in a row as every token has."""
    shown = "".join("x" if one.isascii() and (one.isalnum() or one in "_-") else " " for one in word)
    return _RUN in shown

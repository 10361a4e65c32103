"""Quotes: the very words of an archived text that say an item, and the hash by which they are known again.

Invariant: a quote that is found is a slice of the text it was found in.
"""

from __future__ import annotations

_BETWEEN = " \t\r\n\f\v\"'\\\u2018\u2019\u201c\u201d"  # what a shell, JSON or an editor puts between the same words
_DROPPED = dict.fromkeys(map(ord, _BETWEEN))


def text_hash(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits: by it a quote, or a command, is known again."""
    from hashlib import sha256  # 3 ms that most hooks do without

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find_quote(text: str, said: str) -> str | None:
    """The words of a text that say the same: as they stand, or with other spaces, quotes and backslashes in them."""
    said = said.strip()
    if not said or said in text:
        return said or None
    wanted = said.translate(_DROPPED)
    at = text.translate(_DROPPED).find(wanted) if wanted else -1
    if at < 0:
        return None
    kept = [position for position, character in enumerate(text) if character not in _BETWEEN]
    return text[kept[at] : kept[at + len(wanted) - 1] + 1]

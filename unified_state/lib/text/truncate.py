"""Cutting text to a size without breaking what people see as one character, and measuring it as the client does.

The client limits a hook's output in UTF-16 units: a character beyond U+FFFF (most emoji) counts two.
"""

from __future__ import annotations

CUT_MARK = "…"
_JOINER = "\u200d"
_BEYOND_BMP = "\U00010000"
# What belongs to the character before it: combining marks, variation selectors, keycaps, skin tones, tags.
_ATTACHED = ((0x0300, 0x036F), (0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F))
_FLAG_LETTERS = ("\U0001f1e6", "\U0001f1ff")


def cut(text: str, limit: int) -> str:
    """The text, or as much of its beginning as fits with a mark into `limit` characters; never half an emoji."""
    if len(text) <= limit:
        return text
    return text[: boundary(text, max(0, limit - len(CUT_MARK)))] + CUT_MARK


def utf16_units(text: str) -> int:
    """The length of the text in UTF-16 units."""
    if text.isascii() or max(text) < _BEYOND_BMP:
        return len(text)
    return len(text) + sum(character >= _BEYOND_BMP for character in text)


def one_line(text: str) -> str:
    """The text on one line: control characters vanish, runs of white space become one space."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return " ".join("".join(filter(_is_visible, line)).split())


def boundary(text: str, position: int) -> int:
    """The last position not behind `position` at which the text may be cut."""
    while 0 < position < len(text) and (
        text[position] == _JOINER
        or text[position - 1] == _JOINER
        or any(first <= ord(text[position]) <= last for first, last in _ATTACHED)
        or (_is_flag(text[position]) and _is_flag(text[position - 1]))
    ):
        position -= 1
    return position


def _is_flag(character: str) -> bool:
    return _FLAG_LETTERS[0] <= character <= _FLAG_LETTERS[1]


def _is_visible(character: str) -> bool:
    return character >= " " and character != "\x7f" and not "\x80" <= character <= "\x9f"

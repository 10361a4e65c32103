"""Text functions: cut to a size, pack for the archive, index, find quotes, estimate tokens.

The client limits a hook's output in UTF-16 units, of which a character beyond U+FFFF (most emoji) has two. Lone
surrogates (half an emoji, cut by the client) are preserved: SQLite refuses them in text, but a compressed stream can
hold them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any
from zlib import compress, decompress
from zlib import error as ZlibError  # noqa: N812

CUT_MARK = "…"
_JOINER = "\u200d"
_BEYOND_BMP = "\U00010000"
# Characters that belong to the one before them: combining marks, variation selectors, keycaps, skin tones, tags.
_ATTACHED = ((0x0300, 0x036F), (0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F))
_FLAG_LETTERS = ("\U0001f1e6", "\U0001f1ff")


def cut(text: str, limit: int) -> str:
    """Return the text, or its start and a mark in at most `limit` characters. An emoji is never split."""
    if len(text) <= limit:
        return text
    return text[: boundary(text, max(0, limit - len(CUT_MARK)))] + CUT_MARK


def utf16_units(text: str) -> int:
    """Return the length of the text in UTF-16 units."""
    if text.isascii() or max(text) < _BEYOND_BMP:
        return len(text)
    return len(text) + sum(character >= _BEYOND_BMP for character in text)


def counted(count: int, name: str) -> str:
    """Return a number with what it counts: `1 turn`, `1,234 turns`."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def one_line(text: str) -> str:
    """Return the text on one line, without control characters, each run of white space as one space."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return " ".join("".join(filter(_is_visible, line)).split())


def boundary(text: str, position: int) -> int:
    """Return the last position up to `position` at which a cut splits no character."""
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


UNREADABLE = "[damaged in the archive]"  # replaces a text whose bytes are damaged
_LEVEL = 5  # 6 takes a sixth longer for 0.3 %
_WORTH_COMPRESSING = 100  # bytes; below this the header of the stream outweighs the gain


def pack(text: str) -> str | bytes:
    """Return the stored form of a text: itself, or compressed if that is smaller or if it has lone surrogates."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) >= _WORTH_COMPRESSING:
        packed = compress(encoded, _LEVEL)
        if len(packed) < len(encoded):
            return packed
    return text if well_formed(text) is text else compress(encoded, _LEVEL)


def unpack(stored: str | bytes | None) -> str:
    """Return the exact text of a stored form; `UNREADABLE` if its bytes are damaged."""
    if isinstance(stored, bytes):
        try:
            return decompress(stored).decode("utf-8", "surrogatepass")
        except (ZlibError, UnicodeDecodeError):
            return UNREADABLE
    return stored or ""


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced, since SQLite and terminals refuse them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def escape_surrogates(text: str) -> str:
    """Return the text with lone surrogates escaped as in JSON. JSON keeps its value, and two different texts stay
    different.
    """
    return text.encode("utf-8", "backslashreplace").decode()


_FIRST_CJK = "\u2e80"
_MOST_AT_ONCE = 1 << 18  # characters; pairs take a hundred times the memory of the text
# Radicals to the end of the unified ideographs, Hangul, compatibility ideographs, half-width forms, and the planes 2
# and 3.
_CJK_RANGES = ((0x2E80, 0xA4CF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x20000, 0x3FFFF))


def index_text(text: str) -> str:
    """Return the text for the full-text index.

    A text without CJK is unchanged. Otherwise each CJK run becomes overlapping pairs and its last character, because
    SQLite's tokenizer would treat the whole run as one word.
    """
    if text.isascii():
        return text
    text = well_formed(text)
    if max(text) < _FIRST_CJK:
        return text
    if len(text) > _MOST_AT_ONCE:
        starts = range(0, len(text), _MOST_AT_ONCE)
        return "".join(index_text(text[at : at + _MOST_AT_ONCE]) for at in starts)
    cjk = frozenset(sign for sign in set(text) if sign >= _FIRST_CJK and is_cjk(sign))
    if not cjk:  # an emoji, mostly
        return text
    runs = ((is_run, "".join(run)) for is_run, run in groupby(text, cjk.__contains__))
    return "".join(_pairs(run) if is_run else run for is_run, run in runs)


_ASCII_SIGNS = 0x80
# The table for `translate` of UTF-8: signs of ASCII part words. The index has no capitals, so `lower` follows.
_INDEXED = bytes(byte if chr(byte).isalnum() else 0x20 for byte in range(_ASCII_SIGNS)) + bytes(
    range(_ASCII_SIGNS, 256)
)


def each_word_once(text: str, *, with_parts: bool = False) -> str:
    """Return a text of which the index has the same words, and each of them once where it is written the same.

    The parts of the names of code in it follow `with_parts`. To split a long text takes most of the time, so the names
    are looked for among its distinct words.
    """
    words = b" ".join(dict.fromkeys(text.encode().translate(_INDEXED).split()))
    parts = _parts_of(set(words.translate(_NAMES).split())) if with_parts else ""
    return " ".join(dict.fromkeys(f"{words.lower().decode()} {parts}".split(" "))).strip(" ")


def strings_of(value: Any) -> str:
    """Return all texts in a JSON value, one per line, without JSON's escapes, for the index."""
    found: list[str] = []
    waiting = [value]  # no recursion: JSON may be nested deeper than Python's recursion limit
    while waiting:
        value = waiting.pop()
        if isinstance(value, (dict, list)):
            waiting += reversed(value.values() if isinstance(value, dict) else value)
        elif value is not None and not isinstance(value, bool) and value != "":
            found.append(str(value))
    return "\n".join(found)


def _pairs(run: str) -> str:
    pairs = [first + second for first, second in pairwise(run)]
    return f" {' '.join([*pairs, run[-1]])} "


_HASH = re.compile("(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{6,40}")  # a commit id in a query: letters and digits
_PART = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SHORTEST_NAME, _LONGEST_NAME, _SHORTEST_PART, _MOST_PARTS = 4, 60, 3, 8
_MOST_KNOWN = 50_000  # names in the cache


def only_bytes(kept: bytes) -> bytes:
    """Return a table for `bytes.translate` that turns all other bytes into spaces."""
    return bytes([byte if byte in kept else 0x20 for byte in range(256)])


_NAMES = only_bytes(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def parts_of_names(text: str) -> str:
    """Return the parts of the names of code in a text, as the index has them: each once, in order."""
    return _parts_of(_words_in(text))


def _parts_of(words: set[bytes]) -> str:
    return " ".join(sorted({part for _, parts in _names_among(words) for part in parts.split()}))


_LINE_MARKS = ("\t", "→")  # between the number of a line and the line, in what tools show of files
_MOST_DIGITS = 5  # of a line's number: longer ones may be a file's own


def without_line_numbers(text: str) -> str:
    """Return the text without the numbers that a tool put before the lines of a file.

    A number that does not continue the count of the line before stays: it may be the file's own.
    """
    if not any(mark in text for mark in _LINE_MARKS):
        return text
    lines = text.split("\n")
    last = None
    for place, line in enumerate(lines):
        number, rest = _line_number(line)
        if number is not None and last is not None and number == last + 1:
            lines[place] = rest
        last = number
    return "\n".join(lines)


def _line_number(line: str) -> tuple[int | None, str]:
    """Return the number before a line and the line behind it, or None and the line."""
    for mark in _LINE_MARKS:
        number, found, rest = line.partition(mark)
        number = number.strip(" ")
        if found and len(number) <= _MOST_DIGITS and number.isdecimal():
            return int(number), rest
    return None, line


def names_with_parts(text: str) -> list[tuple[str, str]]:
    """Return the names of code in a text with their parts, and the joined parts from each one to the last:
    `getUserProfile` has get, user, profile and userprofile.
    """
    return _names_among(_words_in(text))


def _words_in(text: str) -> set[bytes]:
    return set(text.encode("ascii", "replace").translate(_NAMES).split())


def _names_among(words: set[bytes]) -> list[tuple[str, str]]:
    names = [word for word in words if not (word.isalpha() and word.islower())]  # most are, and have no parts
    return list(filter(None, map(_name_with_parts, names)))


@lru_cache(_MOST_KNOWN)
def _name_with_parts(word: bytes) -> tuple[str, str] | None:
    if len(word) < _SHORTEST_NAME or len(word) > _LONGEST_NAME or word.isdigit():
        return None
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):
        return None
    name = word.decode("ascii")
    parts = [part.lower() for part in split_name(name)]
    if len(parts) == 1 or len(parts) > _MOST_PARTS or is_hash(name.lower()):
        return None
    if name[:2] in {"0x", "0X"}:
        return name, name[2:].lower()
    tails = ["".join(parts[first:]) for first in range(1, len(parts) - 1)]
    told = [part for part in (*parts, *tails) if len(part) >= _SHORTEST_PART]
    return (name, " ".join(told)) if told else None


def split_name(name: str) -> list[str]:
    """Return the parts of a name: `HTTPServerError` is HTTP, Server and Error, `TS2345` is TS and 2345."""
    return _PART.findall(name) or [name]


def is_hash(word: str) -> bool:
    """Return whether a word looks like a commit id or a part of one."""
    return _HASH.fullmatch(word) is not None


def is_cjk(character: str) -> bool:
    """Return whether the character is Chinese, Japanese or Korean."""
    return character >= _FIRST_CJK and any(first <= ord(character) <= last for first, last in _CJK_RANGES)


# characters that a shell, JSON or an editor adds between the same words
_BETWEEN = " \t\r\n\f\v\"'\\\u2018\u2019\u201c\u201d"
_DROPPED = dict.fromkeys(map(ord, _BETWEEN))


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits, which identifies a quote or a command."""
    from hashlib import sha256  # OpenSSL, 3 ms that most hooks do without

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find_quote(text: str, said: str) -> str | None:
    """Return the part of a text that equals `said`, exactly or with other spaces, quotes and backslashes; None without
    one.
    """
    said = said.strip()
    if not said or said in text:
        return said or None
    wanted = said.translate(_DROPPED)
    at = text.translate(_DROPPED).find(wanted) if wanted else -1
    if at < 0:
        return None
    kept = [position for position, character in enumerate(text) if character not in _BETWEEN]
    return text[kept[at] : kept[at + len(wanted) - 1] + 1]


_CHARACTERS_PER_TOKEN = 3.9
_TOKENS_OF_OTHERS, _TOKENS_BEYOND_BMP = 1.1, 3.0


def estimate_tokens(text: str) -> int:
    """Return a quick estimate of the tokens of a text. Of restored texts it is near the median of o200k's counts."""
    if text.isascii():
        return round(len(text) / _CHARACTERS_PER_TOKEN + 0.5)
    plain = len(text.encode("ascii", "ignore"))
    beyond = utf16_units(text) - len(text)
    others = len(text) - plain - beyond
    guess = plain / _CHARACTERS_PER_TOKEN + _TOKENS_OF_OTHERS * others + _TOKENS_BEYOND_BMP * beyond
    return round(guess + 0.5)

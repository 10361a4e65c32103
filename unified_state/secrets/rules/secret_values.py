"""The look of a value: random, plain words, or a placeholder in place of a secret.

Values are ASCII bytes, as `secret_tokens` explains. Lengths are in characters.
"""

from __future__ import annotations

from itertools import pairwise

DIGITS = b"0123456789"
UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
HEX = DIGITS + b"abcdefABCDEF"
ALNUM = DIGITS + UPPER + LOWER
NAME = ALNUM + b"_-"
DOTS = NAME + b"."
BASE64 = ALNUM + b"+/="
SETS = {b"DIGITS": DIGITS, b"UPPER": UPPER, b"LOWER": LOWER, b"HEX": HEX, b"ALNUM": ALNUM, b"NAME": NAME, b"DOTS": DOTS}
SETS[b"BASE64"] = BASE64
SEPARATORS = b" _-.:/"
MASK_OPENING = b"[MASKED "  # the start of a mask: `[MASKED kind tag]`

_ESCAPES = {
    b"b": 1,
    b"f": 1,
    b"n": 1,
    b"r": 1,
    b"t": 1,
    b"u": 5,
}  # \n, \u201c: the number of characters after the backslash
_FILLERS = frozenset(
    b"none null nil undefined true false yes no todo tbd empty unset unknown default required optional omitted removed"
    b" hidden str string text bytes int integer number float bool boolean object any include same-origin inherit"
    b" changeit dummy".split()
)
_FILLER_PARTS = (
    *b"example your placeholder changeme change-me change_me replace redacted".split(),
    *b"xxxx **** ... -here _here".split(),
)
_SECRET_WORDS = tuple(b"password passphrase passwd pass pwd secret token key key_id key-id keyid credential".split())
_PATH_STARTS = (b"/", b"./", b"../", b"~/", b"http:", b"https:", b"file:", b"arn:")


def blank_but(kept: bytes, shown: bytes) -> bytes:
    """Return the table for `translate` that maps each kept character to the one at its index, and all others to
    blanks.
    """
    table = bytearray(b" " * 256)
    for code, character in zip(kept, shown, strict=True):
        table[code] = character
    return bytes(table)


_BLANK = ord(" ")
_CHARACTER_KINDS = blank_but(DIGITS + UPPER + LOWER, b"0" * 10 + b"A" * 26 + b"a" * 26)


def is_placeholder(value: bytes) -> bool:
    """Return whether the value is in place of a secret: a filler, a template, a name (`my-secret`, `self.token`)."""
    return is_filler(value) or _is_template(value) or names_a_secret(value)


def is_filler(value: bytes) -> bool:
    """Return whether the value is a typical filler for a secret: `xxxx`, `changeme`, `your-api-key`, `null`."""
    lower = value.lower()
    return len(set(lower)) < 2 or lower in _FILLERS or any(part in lower for part in _FILLER_PARTS)  # noqa: PLR2004


def _is_template(value: bytes) -> bool:
    """Return whether another value is inserted here: `$TOKEN`, `${TOKEN}`, `$(cmd)`, `{token}`, `<token>`, `%s`."""
    mark, rest = value[:1], value.lstrip(b"$#%@")
    if rest[:1] in (b"{", b"<") or (b"{" in value and b"}" in value) or (mark == b"[" and value[-1:] == b"]"):
        return True
    if mark == b"$":
        return rest[:1] == b"(" or is_identifier(rest)
    return b"%s" in value or (mark == b"%" and (rest[:1] == b"(" or value[-1:] == b"%"))


def is_identifier(value: bytes) -> bool:
    return value.replace(b"_", b"a").isalnum() and not value[:1].isdigit()


def names_a_secret(value: bytes) -> bool:
    """Return whether the value is a name that ends in a word for secrets: `token`, `test-token`, `settings.apiKey`."""
    name = value[:-1] if value[-1:] == b"s" and value[-2:] != b"ss" else value
    lower = name.lower()
    for word in _SECRET_WORDS:
        if lower.endswith(word) and count_digits(name) == 0:
            before, first = name[: -len(word)], name[-len(word) : len(name) - len(word) + 1]
            return not before or before[-1] in SEPARATORS or (before[-1:].islower() and first.isupper())
    return False


def is_wordlike(value: bytes) -> bool:
    """Return whether the value has only letters and separators of words."""
    return value.translate(None, SEPARATORS).isalpha()


def is_path(value: bytes) -> bool:
    """Return whether the value is a location: a path, a URL, a resource name."""
    return (value.startswith(_PATH_STARTS) or value.count(b"/") > 1) and not is_random(value)


def is_issued(value: bytes) -> bool:
    """Return whether the rest of a token, after its prefix, looks like an issued one and not like an example in a
    manual.
    """
    various = len(set(value)) >= 8  # noqa: PLR2004  # 16 random hexadecimal digits hold 10 different ones on average
    mixed = count_digits(value) > 0 or not (value.islower() or value.isupper())
    return various and mixed and not is_filler(value) and not value.endswith(b"EXAMPLE")


def is_issued_in_capitals(key_id: bytes) -> bool:
    """Return whether an AWS key id looks random though it has no digit. Text that begins with ASIA may be words."""
    body = key_id[4:]
    vowels = len(body) - len(body.translate(None, b"AEIOU"))
    words = key_id.startswith(b"ASIA") and 4 * vowels > len(body) and body.translate(None, b"JQXZ") == body
    various = len(set(body)) >= 6  # noqa: PLR2004
    return various and body.isalpha() and body.isupper() and not words and not is_filler(body)


def is_random(value: bytes) -> bool:
    """Return whether the value looks random: at least 16 characters, with frequent changes between letters and
    digits.
    """
    kinds = value.translate(_CHARACTER_KINDS)
    turns = sum(one != other and _BLANK not in (one, other) for one, other in pairwise(kinds))
    digits = count_digits(value)
    return len(value) >= 16 and digits >= (2 if len(value) < 32 else 1) and 5 * turns >= len(value)  # noqa: PLR2004


def is_dense(value: bytes) -> bool:
    """Return whether the value has no words, as generated values: letters and digits, or `user:password` in base64."""
    digits = count_digits(value)
    mixed = value.isalnum() and 2 <= digits < len(value) and len(value) >= 10  # noqa: PLR2004
    return is_random(value) or mixed or _is_pair(value)


def _is_pair(value: bytes) -> bool:
    if len(value) < 8 or len(value) % 4 or value.strip(BASE64):  # noqa: PLR2004
        return False
    from binascii import a2b_base64  # a shared library

    try:
        pair = a2b_base64(value)
    except ValueError:
        return False
    return b":" in pair.strip(b":") and pair.isascii() and pair.decode().isprintable()


def count_digits(value: bytes) -> int:
    return len(value) - len(value.translate(None, DIGITS))


def leading(data: bytes, characters: bytes) -> bytes:
    """Return the longest prefix that has only these characters."""
    return data[: len(data) - len(data.lstrip(characters))]


def trailing(data: bytes, characters: bytes) -> bytes:
    """Return the longest suffix that has only these characters."""
    return data[len(data.rstrip(characters)) :]


def word_start(data: bytes, start: int) -> int:
    """Return the start of the word at `start`, without the letters of an escape at its beginning, such as n, u201c."""
    escaped = data[start - 1 : start] == b"\\"
    return start + _ESCAPES.get(data[start : start + 1], 0) if escaped else start


def last_word(data: bytes, characters: bytes) -> bytes:
    """Return the longest suffix that has only these characters, without the letters of an escape."""
    return data[word_start(data, len(data) - len(trailing(data, characters))) :]

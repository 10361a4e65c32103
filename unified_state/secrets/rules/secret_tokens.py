"""Secrets of a known form: tokens with a public prefix, as `formats.txt` lists them, and those that a pattern finds:
private key blocks, webhooks, passwords in URLs, tokens of several parts. Each pattern has limits.

Invariant: the time grows with the length of the text, whatever the text is. Every token holds at least `SHORTEST_RUN`
letters, digits, `_` and `-` in a row, so only prefixes that occur in such runs are searched for in the text.

Texts are ASCII bytes in which every other character is one `?` (`text.encode("ascii", "replace")`), so that an offset
in the bytes is an offset in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from unified_state.lib.package import package_path
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.secrets.rules.secret_values import (
    ALNUM,
    DIGITS,
    LOWER,
    NAME,
    SETS,
    UPPER,
    is_issued,
    is_issued_in_capitals,
    is_placeholder,
    leading,
)

Format = tuple[str, list[bytes], bytes, int, int]
Found = tuple[int, int, str]  # start and end of the secret, and its kind


SHORTEST_RUN = 20

_RUN = re.compile(rb"[\w-]{20,}")
_MARKS = frozenset(b".:~")  # these characters before a run require a closer look

# English words that end like these prefixes: task-, disk-, weighs_, laughs_, calico-, TASK. After one of these letters
# the prefix starts no token.
_WORD_ENDS = {b"sk-": b"aeiou", b"ghs": b"iu", b"ico": b"lxndrt", **{b"SK%c" % one: b"AEIOU" for one in DIGITS + UPPER}}

# after these words a prefix counts, though it looks like the end of a word
_TELLING = (b"token", b"key", b"secret", b"password")
_LONGEST_NAME = 8
_BLOB = 16  # letters and digits before a prefix: no word is that long


def read_formats() -> list[Format]:
    """Return the forms of tokens: kind, prefixes, allowed characters after them, their minimum and maximum number."""
    text = read_regular(package_path("secrets", "formats.txt"), SMALL_FILE)
    rows = [line.split() for line in text.splitlines() if line and not line.startswith(b"#")]
    return [
        (kind.decode(), prefixes, b"".join(SETS.get(one, one) for one in characters.split(b",")), int(least), int(most))
        for kind, characters, least, most, *prefixes in rows
    ]


@cache
def _rows() -> dict[bytes, list[Format]]:
    """Return the forms by prefix."""
    rows: dict[bytes, list[Format]] = {}
    for row in read_formats():
        for prefix in row[1]:
            rows.setdefault(prefix, []).append(row)
    return rows


def find_tokens(data: bytes) -> Iterator[Found]:
    """Yield the tokens in a text (ASCII bytes), in any order."""
    runs = [match.span() for match in _RUN.finditer(data)]
    joined = b" ".join({data[start:end] for start, end in runs})
    for prefix in filter(joined.__contains__, _rows() if runs else ()):
        yield from _tokens_with(data, prefix)
    for start, _ in runs:
        if start and data[start - 1] in _MARKS:
            yield from _marked_tokens(data, start)


def _tokens_with(data: bytes, prefix: bytes) -> Iterator[Found]:
    at = data.find(prefix)
    while at >= 0:
        found = _token_at(data, at, prefix)
        end = found[1] if found else at + len(prefix)
        if prefix == b"eyJ" and not found:  # if a JWT does not begin here, none begins in the rest of the run
            end += len(leading(data[end : end + SHORTEST_RUN * 50], NAME))
        if found:
            yield found
        at = data.find(prefix, end)


def _token_at(data: bytes, at: int, prefix: bytes) -> Found | None:
    """Return the token that begins at `at` with this prefix, or None."""
    if _ends_word(data, at, prefix) or _is_in_blob(data, at, prefix):
        return None
    start = at + len(prefix)
    for kind, _, characters, least, most in _rows()[prefix]:
        body = leading(data[start : start + most + 1], characters)
        if len(body) > most and body[most:] in (b"-", b"_", b".", b"="):
            body = body[:most]  # the separator after it is not part of the token
        body = body.rstrip(b".")
        end = start + len(body)
        if least <= len(body) <= most and not data[end : end + 1].isalnum() and _is_token(kind, data[at:end], body):
            return at, end, kind
    return None


def _is_in_blob(data: bytes, at: int, prefix: bytes) -> bool:
    """Return whether `at` is in the middle of base64, in which any short prefix occurs by chance."""
    return prefix.isalnum() and not data[max(0, at - _BLOB) : at].strip(ALNUM) and at >= _BLOB


def _ends_word(data: bytes, at: int, prefix: bytes) -> bool:
    """Return whether the start of the prefix is the end of a word: an English one, or a name before a dot."""
    before, farther = data[at - 1 : at], data[at - 2 : at - 1]
    if prefix[-1:] in (b".", b"~"):
        escaped = farther.isdigit() or (farther == b"\\" and before in b"bfnrt")  # %3D, \n
        is_word = before in (LOWER if prefix[:1].islower() else UPPER) and not escaped
    else:
        is_word = before in _WORD_ENDS.get(prefix[:3], b"") and farther.isalpha()  # after \n it ends no word
    return is_word and before != b"" and not data[max(0, at - _LONGEST_NAME) : at].lower().endswith(_TELLING)


def _is_token(kind: str, token: bytes, body: bytes) -> bool:
    if kind == "jwt":
        return is_issued(body) and _is_jwt(token)
    return is_issued(body) or (kind == "aws-key-id" and is_issued_in_capitals(token))


def _is_jwt(token: bytes) -> bool:
    """Return whether a token has header, payload and signature (RFC 7519), or the five parts of an encrypted one (RFC
    7516).
    """
    parts = token.split(b".")
    signed = len(parts) >= 3 and parts[1].startswith(b"ey") and len(parts[2]) >= 16  # noqa: PLR2004
    return signed or len(parts) == 5  # noqa: PLR2004


def _marked_tokens(data: bytes, start: int) -> Iterator[Found]:
    """Yield the tokens with a long run at `start`, after a mark."""
    head = data[max(0, start - 12) : start]
    prefix = max((one for one in _rows() if one[-1:] in b".~" and head.endswith(one)), key=len, default=b"")
    if prefix:
        found = _token_at(data, start - len(prefix), prefix)
        if found:
            yield found
    elif data.startswith(b"AA", start) or head[-1:] != b":":
        yield from _parts_at(data, start)


# Lines of a block have 64 or more characters, but a terminal may have wrapped them. They may be indented, quoted,
# numbered or joined by escapes, so only their long runs count. A block may be truncated.
_KEY_LINE = rb"[A-Za-z0-9+/=]{32,}"
_KEY_BLOCK = re.compile(
    rb"-----BEGIN .{0,37}?PRIVATE KEY(?:(?!-----END).){0,128}?"
    + _KEY_LINE
    + rb"(?:(?:(?!-----END).){0,36}?"
    + _KEY_LINE
    + rb")*"
    rb"(?:(?:(?!-----END|" + _KEY_LINE + rb").){0,152}-----END(?:.{0,56}?-----)?)?",
    re.DOTALL,
)
_IN_URL = rb"[^ \t\r\n/?#\"'`<>\\"
_URL_PASSWORD = re.compile(rb"://" + _IN_URL + rb":]{0,252}:(" + _IN_URL + rb"]{1,252})@")
_WEBHOOKS = {
    "slack-webhook": re.compile(rb"hooks\.slack\.com/(?:[\w@-]{0,99}/){0,9}([\w@-]{20,300})(?![\w/@-])"),
    "discord-webhook": re.compile(rb"/api/webhooks/(?:[\w@-]{0,99}/){0,9}([\w@-]{20,300})(?![\w/@-])"),
    "teams-webhook": re.compile(rb"\.webhook\.office\.com/webhookb2/([\w/@-]{20,300})"),
    "google-oauth": re.compile(rb"(1//0[\w-]{36,250})(?![\w-])"),
}
# A long run follows one of the marks `.`, `~` and `:` in each of these. The first part of a Discord token is the user's
# number in base64, so every fourth character is M, N or O. The number of a Telegram bot is public.
_PARTS = {
    "azure-ad-secret": re.compile(rb"(.{3}[0-9]Q~[\w=~.-]{31,35})(?![\w=~.-])", re.DOTALL),
    "terraform-token": re.compile(rb"(.{0,14}\.atlasv1\.[\w=~.-]{60,71})(?![\w=~.-])", re.DOTALL),
    "airtable-token": re.compile(rb"(pat.{14}[.~][0-9a-fA-F]{64})(?![\w=~.-])", re.DOTALL),
    "telegram-token": re.compile(rb"[0-9]{8}:(AA[\w-]{33})(?![A-Za-z0-9])"),
    "discord-token": re.compile(
        rb"((?:(?:[MNO][\w-]{3}){5}[MNO][\w-]{2,3}|(?:[MNO][\w-]{3}){6}[MNO][\w-]{0,3})\.[^.]{0,7}[.~](?!eyJ)[\w-]{27,45})"
        rb"(?![\w-])",
        re.DOTALL,
    ),
}
_BEFORE, _BEHIND = 40, 80  # characters around a mark that a token of several parts takes


def _patterns_in(data: bytes) -> Iterator[Found]:
    """Yield key blocks, webhooks and passwords in URLs, in any order."""
    yield from ((*match.span(), "private-key") for match in _KEY_BLOCK.finditer(data))
    for kind, pattern in _WEBHOOKS.items():
        yield from ((*match.span(1), kind) for match in pattern.finditer(data) if is_issued(match[1]))
    for match in _URL_PASSWORD.finditer(data):
        if not is_placeholder(match[1]):
            yield *match.span(1), "url-password"


def _parts_at(data: bytes, start: int) -> Iterator[Found]:
    """Yield the token of several parts that has its last long run at `start`."""
    begin = max(0, start - _BEFORE)
    for kind, pattern in _PARTS.items():
        for match in pattern.finditer(data, begin, start + _BEHIND):
            if match.start(1) <= start < match.end(1):
                yield *match.span(1), kind


def find_formats(data: bytes) -> Iterator[Found]:
    """Yield the secrets of a known form in a text (ASCII bytes), in any order."""
    yield from find_tokens(data)
    is_sign = b"/" in data and (b"hook" in data or b"1//0" in data or (b"@" in data and b"://" in data))
    if is_sign or b"PRIVATE KEY" in data:
        yield from _patterns_in(data)

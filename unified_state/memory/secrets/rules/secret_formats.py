"""Secrets that are known by their form alone: tokens with a public prefix, private key blocks, passwords in URLs.

Invariant: the time grows with the length of the text, whatever the text is.

Texts are looked at as ASCII bytes in which every other character is one `?` (`text.encode("ascii", "replace")`), so
that an offset in the bytes is an offset in the text.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_tokens import find_tokens
from unified_state.memory.secrets.rules.secret_values import BASE64, NAME, blank_but, is_issued, is_placeholder, leading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.memory.secrets.rules.secret_tokens import Found

KEY_LABEL = b"PRIVATE KEY"

_WEBHOOKS = (
    (b"hooks.slack.com/", "slack-webhook"),
    (b"/api/webhooks/", "discord-webhook"),
    (b".webhook.office.com/webhookb2/", "teams-webhook"),
)

_BASE64_CHARACTERS = blank_but(BASE64, b"x" * len(BASE64))
_KEY_RUN = b"x" * 32  # lines of a private key block hold 64 or more, but a terminal may have wrapped them
_KEY_GAP = 36  # a shorter piece, a line's number, an indent

_NOT_IN_AUTHORITY = b" \t\r\n/?#\"'`<>\\"
_AUTHORITY_ENDS = bytes.maketrans(_NOT_IN_AUTHORITY, b" " * len(_NOT_IN_AUTHORITY))
_LONGEST_AUTHORITY = 254  # up to the @


def find_formats(data: bytes) -> Iterator[Found]:
    """The secrets of a known form in a text, given as ASCII bytes; not in order."""
    yield from find_tokens(data)
    if b"hook" in data:
        yield from _find_webhooks(data)
    if b"1//0" in data:
        yield from _find_google_refresh_tokens(data)
    if KEY_LABEL in data:
        yield from _find_key_blocks(data)
    if b"@" in data:
        yield from _find_url_passwords(data)


def _find_webhooks(data: bytes) -> Iterator[Found]:
    """What of the path of each webhook is all that protects it."""
    for host, kind in _WEBHOOKS:
        at = data.find(host)
        while at >= 0:
            at += len(host)
            path = leading(data[at : at + 300], NAME + b"/@")
            start = at if kind == "teams-webhook" else at + path.rfind(b"/") + 1
            end = at + len(path)
            if end - start >= 20 and is_issued(data[start:end]):  # noqa: PLR2004
                yield start, end, kind
            at = data.find(host, at)


def _find_google_refresh_tokens(data: bytes) -> Iterator[Found]:
    at = data.find(b"1//0")
    while at >= 0:
        body = leading(data[at + 4 : at + 260], NAME)
        if 36 <= len(body) <= 250 and is_issued(body):  # noqa: PLR2004
            yield at, at + 4 + len(body), "google-oauth"
        at = data.find(b"1//0", at + 4)


def _find_key_blocks(data: bytes) -> Iterator[Found]:
    at = data.find(KEY_LABEL)
    while at >= 0:
        at += len(KEY_LABEL)
        begin = data.rfind(b"-----BEGIN ", max(0, at - 48), at)
        end = _key_block_end(data, at) if begin >= 0 else None
        if end:
            yield begin, end, "private-key"
            at = end
        at = data.find(KEY_LABEL, at)


def _key_block_end(data: bytes, at: int) -> int | None:
    """Where the block that begins in front of `at` ends: behind its END line, or, where that was cut off, behind its
    last line; None where no key follows, as in code that looks for one.

    Lines may be indented, quoted, numbered or joined by escapes, so only their long runs count.
    """
    end = None
    while True:
        window = data[at : at + 160]
        run = window.translate(_BASE64_CHARACTERS).find(_KEY_RUN)
        close = window.find(b"-----END", 0, run if run >= 0 else None)
        if close >= 0 and end:
            dashes = data.find(b"-----", at + close + 8, at + close + 64)
            return dashes + 5 if dashes >= 0 else at + close
        if run < 0 or close >= 0 or (end and run > _KEY_GAP):
            return end
        at += run + len(leading(data[at + run : at + run + 65536], BASE64))
        end = at


def _find_url_passwords(data: bytes) -> Iterator[Found]:
    scheme = data.find(b"://")
    while scheme >= 0:
        user = scheme + 3
        authority = data[user : user + _LONGEST_AUTHORITY].translate(_AUTHORITY_ENDS).partition(b" ")[0]
        start = authority.find(b":") + 1
        end = authority.find(b"@", start) if start else -1
        while end >= 0:
            if not is_placeholder(authority[start:end]):
                yield user + start, user + end, "url-password"
            end = authority.find(b"@", end + 1)  # a password may hold one
        scheme = data.find(b"://", user)

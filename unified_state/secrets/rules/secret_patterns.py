"""Secrets that a pattern finds: private key blocks, webhooks, passwords in URLs, tokens of several parts.

It is loaded where a text has a sign of one, because most hooks need no regular expressions. Each pattern has limits, so
that the time grows with the length of the text, whatever the text is. Texts are ASCII bytes, as `secret_tokens`
explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unified_state.secrets.rules.secret_values import is_issued, is_placeholder

Found = tuple[int, int, str]

# Lines of a block have 64 or more characters, but a terminal may have wrapped them. They may be indented, quoted,
# numbered or joined by escapes, so only their long runs count. A block may be truncated.
_RUN = rb"[A-Za-z0-9+/=]{32,}"
_KEY_BLOCK = re.compile(
    rb"-----BEGIN .{0,37}?PRIVATE KEY(?:(?!-----END).){0,128}?" + _RUN + rb"(?:(?:(?!-----END).){0,36}?" + _RUN + rb")*"
    rb"(?:(?:(?!-----END|" + _RUN + rb").){0,152}-----END(?:.{0,56}?-----)?)?",
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


def find_patterns(data: bytes) -> Iterator[Found]:
    """Yield key blocks, webhooks and passwords in URLs, in any order."""
    yield from ((*match.span(), "private-key") for match in _KEY_BLOCK.finditer(data))
    for kind, pattern in _WEBHOOKS.items():
        yield from ((*match.span(1), kind) for match in pattern.finditer(data) if is_issued(match[1]))
    for match in _URL_PASSWORD.finditer(data):
        if not is_placeholder(match[1]):
            yield *match.span(1), "url-password"


def find_parts(data: bytes, start: int) -> Iterator[Found]:
    """Yield the token of several parts that has its last long run at `start`."""
    begin = max(0, start - _BEFORE)
    for kind, pattern in _PARTS.items():
        for match in pattern.finditer(data, begin, start + _BEHIND):
            if match.start(1) <= start < match.end(1):
                yield *match.span(1), kind

"""Secrets that are known by their form alone: tokens with a public prefix, private key blocks, passwords in URLs.

Invariant: the time grows with the length of the text, whatever the text is. Most of it is one scan that does not depend
on how many formats there are: every token holds at least `SHORTEST_RUN` letters, digits, `_` and `-` in a row, so only
where such a run begins is the table asked.

Texts are looked at as ASCII bytes in which every other character is one `?` (`text.encode("ascii", "replace")`), so
that an offset in the bytes is an offset in the text. The formats are those the providers document, as they also stand
in the rules of gitleaks and trufflehog.
"""

from __future__ import annotations

from unified_state.rules.secret_values import (
    DIGITS,
    LOWER,
    UPPER,
    blank_but,
    is_issued,
    is_placeholder,
    last_word,
    leading,
    trailing,
    word_start,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Found = tuple[int, int, str]  # where the secret begins, where it ends, its kind
    Format = tuple[str, bytes, bytes, int, int]

SHORTEST_RUN = 20
KEY_LABEL = b"PRIVATE KEY"

_HEX = DIGITS + b"abcdefABCDEF"
_ALNUM = DIGITS + UPPER + LOWER
_NAME = _ALNUM + b"_-"
_DOTS = _NAME + b"."
_BASE64 = _ALNUM + b"+/="

# Kind, prefixes, the characters that may follow, at least and at most how many of them.
FORMATS: tuple[Format, ...] = (
    ("age-key", b"AGE-SECRET-KEY-1", DIGITS + UPPER, 58, 58),
    ("anthropic-key", b"sk-ant-", _NAME, 32, 300),
    ("aws-key-id", b"AKIA ASIA ABIA ACCA", DIGITS + UPPER, 16, 16),
    ("databricks-token", b"dapi", _HEX, 32, 32),
    ("digitalocean-token", b"dop_v1_ doo_v1_ dor_v1_", _HEX, 64, 64),
    ("docker-token", b"dckr_pat_", _NAME, 27, 27),
    ("doppler-token", b"dp.pt. dp.ct. dp.sa. dp.st. dp.scim. dp.audit.", _ALNUM, 40, 44),
    ("github-token", b"ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 36, 255),
    ("github-token", b"github_pat_", _ALNUM + b"_", 50, 255),
    ("gitlab-token", b"glpat- gldt- glft- glrt- gloas- glptt- glcbt- glimt- glsoat- glagent- glffct-", _DOTS, 20, 300),
    ("google-key", b"AIza", _NAME, 35, 35),
    ("google-oauth", b"GOCSPX-", _NAME, 28, 28),
    ("google-oauth", b"ya29.", _DOTS, 20, 2048),
    ("grafana-token", b"glsa_ glc_", _BASE64 + b"_", 32, 400),
    ("groq-key", b"gsk_", _ALNUM, 48, 64),
    ("huggingface-token", b"hf_ api_org_", _ALNUM, 30, 40),
    ("jwt", b"eyJ", _DOTS, 40, 16384),
    ("linear-key", b"lin_api_ lin_oauth_", _ALNUM, 32, 64),
    ("notion-token", b"ntn_ secret_", _ALNUM, 43, 50),
    ("npm-token", b"npm_", _ALNUM, 36, 36),
    ("openai-key", b"sk-", _ALNUM, 32, 64),
    ("openai-key", b"sk-proj- sk-svcacct- sk-admin-", _NAME, 40, 300),
    ("openrouter-key", b"sk-or-v1-", _HEX, 64, 64),
    ("perplexity-key", b"pplx-", _ALNUM, 40, 64),
    ("planetscale-token", b"pscale_tkn_ pscale_pw_ pscale_oauth_", _DOTS, 32, 64),
    ("postman-key", b"PMAK-", _HEX + b"-", 59, 59),
    ("pulumi-token", b"pul-", _HEX, 40, 40),
    ("pypi-token", b"pypi-Ag", _NAME, 50, 1000),
    ("rubygems-key", b"rubygems_", _HEX, 48, 48),
    ("sendgrid-key", b"SG.", _DOTS, 66, 66),
    ("sentry-token", b"sntrys_ sntryu_", _BASE64 + b"_", 64, 500),
    ("shopify-token", b"shpat_ shpca_ shppa_ shpss_ shpua_", _HEX, 32, 32),
    ("slack-token", b"xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", _ALNUM + b"-", 16, 512),
    ("stripe-key", b"sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", _ALNUM, 16, 255),
    ("stripe-webhook-key", b"whsec_", _BASE64, 32, 80),
    ("vault-token", b"hvs. hvb. hvr.", _NAME, 24, 300),
)


def _by_head() -> dict[bytes, list[Format]]:
    """The formats, one for each prefix, by the first three bytes of the prefix."""
    heads: dict[bytes, list[Format]] = {}
    for kind, prefixes, characters, shortest, longest in FORMATS:
        for prefix in prefixes.split():
            heads.setdefault(prefix[:3], []).append((kind, prefix, characters, shortest, longest))
    return heads


_BY_HEAD = _by_head()
_DOTTED_PREFIXES = frozenset(
    prefix for _, prefixes, *_ in FORMATS for prefix in prefixes.split() if prefix.endswith(b".")
)

_RUN_CHARACTERS = blank_but(_NAME, b"x" * len(_NAME))
_RUN = b" " + b"x" * SHORTEST_RUN
_BASE64_CHARACTERS = blank_but(_BASE64, b"x" * len(_BASE64))
_KEY_RUN = b"x" * 32  # lines of a private key block hold 64 or more, but a terminal may have wrapped them
_KEY_GAP = 36  # a shorter piece, a line's number, an indent

_MARKS = frozenset(b".:\\%")  # in front of a run they ask for a closer look
_NOT_IN_AUTHORITY = b" \t\r\n/?#\"'`<>\\"
_AUTHORITY_ENDS = bytes.maketrans(_NOT_IN_AUTHORITY, b" " * len(_NOT_IN_AUTHORITY))
_LONGEST_AUTHORITY = 254  # up to the @


def find_formats(data: bytes) -> Iterator[Found]:
    """The secrets of a known form in a text, given as ASCII bytes; not in order."""
    yield from _find_tokens(data)
    yield from _find_slack_webhooks(data)
    yield from _find_key_blocks(data)
    yield from _find_url_passwords(data)


def _find_tokens(data: bytes) -> Iterator[Found]:
    runs = b" " + data.translate(_RUN_CHARACTERS)  # a run at the start of the text has a space in front of it too
    find = runs.find
    start = find(_RUN)
    while start >= 0:
        if data[start : start + 3] in _BY_HEAD or (start and data[start - 1] in _MARKS):
            found = _token_at(data, start)
            if found:
                yield found
        start = find(_RUN, start + SHORTEST_RUN)


def _token_at(data: bytes, start: int) -> Found | None:
    """The token whose first long run of characters begins at `start`."""
    mark = data[start - 1 : start]  # empty at the start of the text
    if mark == b".":
        if data.startswith(b"eyJ", start):
            return None  # a later part of a JWT, which was looked at from its beginning
        return _dotted_token(data, start) or _discord_token(data, start) or _prefixed_token(data, start)
    if mark == b":":
        return _telegram_token(data, start) or _prefixed_token(data, start)
    behind = start + 2 if mark == b"%" else word_start(data, start)  # behind %3D, \n
    return _prefixed_token(data, behind) or _prefixed_token(data, start)


def _prefixed_token(data: bytes, start: int) -> Found | None:
    for kind, prefix, characters, shortest, longest in _BY_HEAD.get(data[start : start + 3], ()):
        if data.startswith(prefix, start):
            body_start = start + len(prefix)
            body = leading(data[body_start : body_start + longest + 1], characters).rstrip(b".")
            end = body_start + len(body)
            if (
                shortest <= len(body) <= longest
                and not data[end : end + 1].isalnum()
                and is_issued(body)
                and (kind != "jwt" or _is_jwt(data[start:end]))
            ):
                return start, end, kind
    return None


def _is_jwt(token: bytes) -> bool:
    """Header, payload, signature (RFC 7519), or the five parts of an encrypted one (RFC 7516)."""
    parts = token.split(b".")
    signed = len(parts) >= 3 and parts[1].startswith(b"ey") and len(parts[2]) >= 16  # noqa: PLR2004
    return signed or len(parts) == 5  # noqa: PLR2004


def _dotted_token(data: bytes, start: int) -> Found | None:
    """A token whose prefix ends in the dot in front of `start`."""
    prefix = last_word(data[max(0, start - 24) : start], _DOTS)
    return _prefixed_token(data, start - len(prefix)) if prefix in _DOTTED_PREFIXES else None


def _discord_token(data: bytes, start: int) -> Found | None:
    """The user's number in base64 (so every fourth character is M, N or O), a time, and a signature, which is here."""
    signature = leading(data[start : start + 64], _NAME)
    time_start = data.rfind(b".", max(0, start - 9), start - 1) + 1
    head = data[max(0, time_start - 38) : max(0, time_start - 1)]
    user = last_word(head, _NAME)
    if 23 <= len(user) <= 28 and 27 <= len(signature) <= 45 and not user[::4].strip(b"MNO"):  # noqa: PLR2004
        return time_start - 1 - len(user), start + len(signature), "discord-token"
    return None


def _telegram_token(data: bytes, start: int) -> Found | None:
    """The 35 characters behind the number of a bot; the number is public."""
    head = data[max(0, start - 12) : start - 1]
    number = trailing(head, DIGITS)
    secret = leading(data[start : start + 64], _NAME)
    if len(number) >= 8 and len(secret) == 35 and secret.startswith(b"AA"):  # noqa: PLR2004
        return start, start + len(secret), "telegram-token"
    return None


def _find_slack_webhooks(data: bytes) -> Iterator[Found]:
    """The last part of the path of each webhook, which is all that protects it."""
    host = b"hooks.slack.com/"
    at = data.find(host)
    while at >= 0:
        at += len(host)
        path = leading(data[at : at + 128], _ALNUM + b"/")
        secret = path[path.rfind(b"/") + 1 :]
        if 20 <= len(secret) <= 64 and is_issued(secret):  # noqa: PLR2004
            yield at + len(path) - len(secret), at + len(path), "slack-webhook"
        at = data.find(host, at)


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
        at += run + len(leading(data[at + run : at + run + 65536], _BASE64))
        end = at


def _find_url_passwords(data: bytes) -> Iterator[Found]:
    scheme = data.find(b"://") if b"@" in data else -1
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

"""Secrets of a known form: tokens with a public prefix, private key blocks, webhooks, passwords in URLs.

Invariant: the time grows with the length of the text, whatever the text is. Every token holds at least `SHORTEST_RUN`
letters, digits, `_` and `-` in a row, so only prefixes that occur in such runs are searched for in the text.

Texts are ASCII bytes in which every other character is one `?` (`text.encode("ascii", "replace")`), so that an offset
in the bytes is an offset in the text.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_values import (
    ALNUM,
    BASE64,
    DIGITS,
    HEAD,
    HEX,
    LOWER,
    NAME,
    UPPER,
    blank_but,
    is_issued,
    is_issued_in_capitals,
    is_placeholder,
    leading,
    trailing,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.memory.secrets.rules.secret_kinds import Format

    Found = tuple[int, int, str]  # start and end of the secret, and its kind


SHORTEST_RUN = 20

_RUN_CHARACTERS = blank_but(NAME, b"x" * len(NAME))
_RUN = b"x" * SHORTEST_RUN
_MARKS = frozenset(b".:~")  # these characters before a run require a closer look

_plain: set[bytes] = set()  # cache of runs without a prefix: a long text repeats the same few
_MOST_PLAIN = 10_000

# English words that end like these prefixes: task-, disk-, weighs_, laughs_, calico-, TASK. After one of these letters
# the prefix starts no token.
_WORD_ENDS = {b"sk-": b"aeiou", b"ghs": b"iu", b"ico": b"lxndrt", **{b"SK%c" % one: b"AEIOU" for one in DIGITS + UPPER}}

# after these words a prefix counts, though it looks like the end of a word
_TELLING = (b"token", b"key", b"secret", b"password")
_LONGEST_NAME = 8
_MANY = 8  # prefixes with a common start
_BLOB = 16  # letters and digits before a prefix: no word is that long


# The tables below are filled from the formats at the first text with a long run, because most hooks see none.
_ROWS: dict[bytes, list[Format]] = {}
_going_beyond: set[bytes] = set()
_dotted: list[bytes] = []  # prefixes after which the run begins
# The prefixes by the part that is searched first: the last letters of their first word, such as `hub` for
# `github_pat_`, or their beginning if they have no such word.
_BY_WORD: dict[bytes, list[bytes]] = {}
_BY_BEGINNING: dict[bytes, list[bytes]] = {}


def _fill_tables() -> None:
    from unified_state.memory.secrets.rules.secret_kinds import FORMATS  # large tables

    for row in FORMATS:
        for prefix in row[1].split():
            _ROWS.setdefault(prefix, []).append(row)
    _going_beyond.update(prefix for prefix, rows in _ROWS.items() if any(row[2].strip(NAME) for row in rows))
    _dotted.extend(prefix for prefix in _ROWS if prefix[-1:] in (b".", b"~"))
    for prefix in _ROWS:
        word, separator, _ = prefix.replace(b"-", b"_").partition(b"_")
        if prefix in _dotted:
            continue
        if separator and len(word) >= HEAD:
            _BY_WORD.setdefault(word[-HEAD:], []).append(prefix)
        else:
            _BY_BEGINNING.setdefault(prefix[: len(word) + 1 if separator else 2], []).append(prefix)


def find_tokens(data: bytes) -> Iterator[Found]:
    """Yield the tokens in a text (ASCII bytes), in any order."""
    shown = data.translate(_RUN_CHARACTERS)
    if _RUN not in shown:
        return
    if not _ROWS:
        _fill_tables()
    runs, marked = _long_runs(data, shown)
    fresh = runs - _plain
    if fresh:
        prefixes = _prefixes_of_tokens(fresh)
        for prefix in prefixes:
            yield from _tokens_with(data, prefix)
        _remember(fresh, prefixes)
    for start in marked:
        found = _marked_token(data, start)
        if found:
            yield found


def _long_runs(data: bytes, shown: bytes) -> tuple[set[bytes], list[int]]:
    """Return the long runs of token characters, and the positions of those that follow a mark."""
    find = shown.find
    runs: set[bytes] = set()
    marked = []
    start = find(_RUN)
    while start >= 0:
        end = find(b" ", start + SHORTEST_RUN)
        if end < 0:
            end = len(data)
        runs.add(data[start:end])
        if start and data[start - 1] in _MARKS:
            marked.append(start)
        start = find(_RUN, end)
    return runs, marked


def _prefixes_of_tokens(runs: set[bytes]) -> list[bytes]:
    """Return the prefixes of tokens in these runs, including those of tokens that may extend beyond a run."""
    joined = b" ".join(runs)
    words = {piece[-HEAD:] for piece in joined.replace(b"-", b"_").split(b"_")} & _BY_WORD.keys()
    keys = [(word, _BY_WORD[word]) for word in words]
    keys += [(key, prefixes) for key, prefixes in _BY_BEGINNING.items() if key in joined]
    found = []
    for key, prefixes in keys:
        # Many prefixes are searched only in the runs that have their common part.
        text = b" ".join([run for run in runs if key in run]) if len(prefixes) >= _MANY else joined
        found += [prefix for prefix in prefixes if prefix in text and _may_begin_token(text, prefix)]
    return found


def _may_begin_token(runs: bytes, prefix: bytes) -> bool:
    return prefix in _going_beyond or next(_tokens_with(runs, prefix), None) is not None


def _remember(runs: set[bytes], prefixes: list[bytes]) -> None:
    if len(_plain) > _MOST_PLAIN:
        _plain.clear()
    if len(runs) <= _MOST_PLAIN:
        _plain.update([run for run in runs if not any(map(run.__contains__, prefixes))] if prefixes else runs)


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
    for kind, _, characters, least, most in _ROWS[prefix]:
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
        is_word = before in _WORD_ENDS.get(prefix[:HEAD], b"") and farther.isalpha()  # after \n it ends no word
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


def _marked_token(data: bytes, start: int) -> Found | None:
    """Return the token with a long run at `start`, after a mark, or None."""
    if data[start - 1 : start] == b":":
        return _telegram_token(data, start)
    head = data[max(0, start - 12) : start]
    if head.endswith(tuple(_dotted)):
        prefix = max((prefix for prefix in _dotted if head.endswith(prefix)), key=len)
        return _token_at(data, start - len(prefix), prefix)
    return _two_part_token(data, start) or (None if data.startswith(b"eyJ", start) else _discord_token(data, start))


def _two_part_token(data: bytes, start: int) -> Found | None:
    """Return a token with a mark inside: of Azure AD (`…8Q~…`), Terraform (`….atlasv1.…`), Airtable. Or None."""
    body = leading(data[start : start + 80], NAME + b"=~.")
    if data[start - 2 : start] == b"Q~" and data[start - 3 : start - 2].isdigit() and 31 <= len(body) <= 35:  # noqa: PLR2004
        return max(0, start - 6), start + len(body), "azure-ad-secret"
    if data[start - 9 : start] == b".atlasv1." and 60 <= len(body) <= 71:  # noqa: PLR2004
        return max(0, start - 23), start + len(body), "terraform-token"
    if data[max(0, start - 18) : start - 15] == b"pat" and len(body) == 64 and not body.strip(HEX):  # noqa: PLR2004
        return start - 18, start + 64, "airtable-token"
    return None


def _discord_token(data: bytes, start: int) -> Found | None:
    """Return a Discord token, or None: user number in base64 (so every fourth character is M, N or O), time,
    signature.
    """
    signature = leading(data[start : start + 64], NAME)
    time_start = data.rfind(b".", max(0, start - 9), start - 1) + 1
    head = trailing(data[max(0, time_start - 29) : max(0, time_start - 1)], NAME)
    if time_start and 27 <= len(signature) <= 45:  # noqa: PLR2004
        for length in range(23, min(28, len(head)) + 1):
            if not head[-length:][::4].strip(b"MNO"):
                return time_start - 1 - length, start + len(signature), "discord-token"
    return None


def _telegram_token(data: bytes, start: int) -> Found | None:
    """Return the 35 secret characters after a bot's number, which is public, or None."""
    number = trailing(data[max(0, start - 12) : start - 1], DIGITS)
    secret = leading(data[start : start + 64], NAME)
    goes_on = secret[35:36] in (b"_", b"-")
    if len(number) >= 8 and (len(secret) == 35 or goes_on) and secret.startswith(b"AA"):  # noqa: PLR2004
        return start, start + 35, "telegram-token"
    return None


KEY_LABEL = b"PRIVATE KEY"

_WEBHOOKS = (
    (b"hooks.slack.com/", "slack-webhook"),
    (b"/api/webhooks/", "discord-webhook"),
    (b".webhook.office.com/webhookb2/", "teams-webhook"),
)

_BASE64_CHARACTERS = blank_but(BASE64, b"x" * len(BASE64))
_KEY_RUN = b"x" * 32  # lines of a private key block have 64 or more characters, but a terminal may have wrapped them
_KEY_GAP = 36  # maximum gap between runs: a shorter piece, a line number, an indent

_NOT_IN_AUTHORITY = b" \t\r\n/?#\"'`<>\\"
_AUTHORITY_ENDS = bytes.maketrans(_NOT_IN_AUTHORITY, b" " * len(_NOT_IN_AUTHORITY))
_LONGEST_AUTHORITY = 254  # maximum up to the @


def find_formats(data: bytes) -> Iterator[Found]:
    """Yield the secrets of a known form in a text (ASCII bytes), in any order."""
    yield from find_tokens(data)
    if b"/" in data:  # ten times as fast to look for as for several characters
        if b"hook" in data:
            yield from _find_webhooks(data)
        if b"1//0" in data:
            yield from _find_google_refresh_tokens(data)
    if has_key_label(data):
        yield from _find_key_blocks(data)
    if b"@" in data:
        yield from _find_url_passwords(data)


def has_key_label(data: bytes) -> bool:
    """Return whether a text has the label of a private key. Few texts have its rarest letter."""
    return b"V" in data and KEY_LABEL in data


def _find_webhooks(data: bytes) -> Iterator[Found]:
    """Yield the secret part of each webhook's path."""
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
    """Return the end of the key block that begins before `at`; None if no key follows, as in code that searches for
    one.

    The end is after the END line, or after the last line if the block was truncated. Lines may be indented, quoted,
    numbered or joined by escapes, so only their long runs count.
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
            end = authority.find(b"@", end + 1)  # a password may contain an @
        scheme = data.find(b"://", user)

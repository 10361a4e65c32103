"""Secrets recognized by the name of their variable or field: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `?sig=…`.

Names are ASCII bytes of letters, digits, `_` and `-`, and so are texts, as `secret_tokens` explains.

Invariant: only literals are secrets. Code (a call, a variable, a type), placeholders and prose are not masked, because
recorded code with holes is worth little. So a quoted value counts as a literal, and so does one assigned to an
upper-case name as in a shell or an `.env` file. Any other value counts only if it looks like a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from unified_state.secrets.rules.secret_tokens import Found
from unified_state.secrets.rules.secret_values import (
    DIGITS,
    LOWER,
    MASK_OPENING,
    UPPER,
    count_digits,
    is_dense,
    is_identifier,
    is_path,
    is_placeholder,
    is_random,
    is_wordlike,
    last_word,
    leading,
    names_a_secret,
    trailing,
)

_KINDS = {
    "password": tuple(b"password passwd passphrase dbpass sshpass".split()),
    "secret": (b"secret",),
    "token": (b"token",),
    "credential": (b"credential", b"credentials"),
    "key": tuple(
        owner + b"key"
        for owner in b"api access secret private account shared storage encryption signing master auth app role".split()
    ),
}
_SHORT_PASSWORDS = (b"_pass", b"-pass", b"_pwd", b"-pwd")  # PASS alone is a test result, PWD alone a folder
# Names that hold a secret only if the value looks like one: STRIPE_KEY, GH_PAT, REGISTRY_AUTH.
PERHAPS = "auth-key"
_PERHAPS_ENDS = (b"_KEY", b"_PAT", b"_AUTH", b"_CREDS", b"_APIKEY")
_PUBLIC = (b"PUBLIC_KEY", b"PRIMARY_KEY", b"FOREIGN_KEY", b"CACHE_KEY", b"SORT_KEY")
_QUALIFIERS = tuple(b"prod dev staging test live old new".split())  # DB_PASSWORD_PROD
# Tokens of language models, pagination, cancellation and requests. And references to secrets, as in Kubernetes.
_OTHERS = tuple(
    b"pad_token eos_token bos_token unk_token sep_token cls_token mask_token stop_token start_token end_token"
    b" special_token next_token page_token continuation_token cursor_token sync_token forward_token backward_token"
    b" sequence_token starting_token cancel_token cancellation_token idempotency_token change_token lock_token"
    b" public_key_token existing_secret tls_secret pull_secret".split()
)
_OTHERS_IN_SNAKE_CASE = tuple(b"_" + name for name in _OTHERS)
_OTHERS_IN_CAMEL_CASE = tuple(name.title().replace(b"_", b"") for name in _OTHERS)


@lru_cache(10_000)  # a long text repeats few names
def kind_of_name(name: bytes) -> str | None:
    """Return the kind of secret that a variable, field, option or header of this name holds; None if it holds none."""
    squashed = name.translate(None, b"_-").lower().rstrip(DIGITS)
    lower = name.lower().lstrip(b"-")
    for qualifier in _QUALIFIERS:
        squashed = squashed.removesuffix(qualifier)
    for kind, names in _KINDS.items():
        if squashed.endswith(names):
            return None if _is_other(name) else kind
    short = lower.endswith(_SHORT_PASSWORDS) or name[1:].endswith((b"Pass", b"Pwd")) or name in (b"pwd", b"Pwd")
    if short:
        return "password"
    perhaps = name.endswith(_PERHAPS_ENDS) and name.isupper() and not name.endswith(_PUBLIC)
    return PERHAPS if perhaps or lower in (b"auth", b"_auth") else None


def _is_other(name: bytes) -> bool:
    snake = b"_" + name.replace(b"-", b"_")  # only in lower case: in a shell PAGE_TOKEN may be a secret
    camel = name[:1].upper() + name[1:]
    return snake.endswith(_OTHERS_IN_SNAKE_CASE) or camel.endswith(_OTHERS_IN_CAMEL_CASE)


WORD = DIGITS + UPPER + LOWER + b"_-"
SPACE = b" \t"
QUOTES = b"\"'`"
_AFTER_NAME = SPACE + QUOTES + b"\\]"  # os.environ["TOKEN"] = …, \"token\": …
_LONGEST_NAME = 120
_SIGNATURES = (b"sig", b"signature")
# An operator, what may stand before it, and the last letters of a name with its digits and signs, in lower case and
# backwards: operators are rarer than such letters, so that they are looked for first.
_ASSIGNED = re.compile(
    rb"[=:][ \t\"'`\\\]]{0,40}(?:[\d_-]|" + b"|".join(one[::-1] for one in _QUALIFIERS) + rb"){0,40}"
    rb"(?:drow|dwss|esar|ssap|dwp|terc|neko|s?lait|yek|tap|htua|sder|gis|erut|noit)"
)
_OPTION = re.compile(rb"--\w[\w-]{0,117}")


def find_names(data: bytes) -> Iterator[tuple[int, bytes, str]]:
    """Yield the position after each assignment to the name of a secret, the name, and the kind of secret.

    Options of a command come last: `--password …`, or `"--password", "…"` in a list.
    """
    for match in reversed(list(_ASSIGNED.finditer(data.lower()[::-1]))):
        at = len(data) - match.start()
        name, kind = secret_name(data[max(0, at - 1 - _LONGEST_NAME) : at - 1])
        if kind:
            yield at, name, kind
    for match in _OPTION.finditer(data):
        option, at = kind_of_name(match[0]), match.end()
        gap = leading(data[at : at + 8], SPACE + QUOTES + b"\\,") if option else b""
        if option and gap and (b"," in gap or gap[0] in SPACE):
            yield at + gap.find(b",") + 1, match[0], option


def secret_name(head: bytes) -> tuple[bytes, str]:
    """Return the name at the end of the text before an operator, and the kind of secret it holds, or "".

    A name in a URL's query gets a `?` in front, and an option keeps its dashes.
    """
    head = head.rstrip(_AFTER_NAME)
    name = last_word(head, WORD)
    before = head[: len(head) - len(name)]
    amazon = before.endswith(b":") and trailing(before, WORD + b":").startswith(b"arn:")
    masked = before.rstrip(b":").endswith(b"]") and MASK_OPENING in before
    if amazon or masked or before.endswith((b"::", b"/")):
        return name, ""  # part of a resource name or a type, of a mask, or of a URL's user
    query = before.endswith((b"?", b"&")) or before[-6:-4] == b"\\u"  # \u0026 is &
    lower = name.lower()
    if lower.endswith(b"authorization"):
        return name, "authorization"
    kind = "signature" if query and lower.endswith(_SIGNATURES) else kind_of_name(name) or ""
    return (b"?" + name if query else name), kind


_LONGEST_VALUE = 4096

_OPERATOR = SPACE + b"=>"
_TYPE = DIGITS + UPPER + LOWER + b"_.|&<>[]? "
_CODE = frozenset(b"([{*")
_CODE_FOLLOWS = (b")", b",", b"(")  # the value is an argument or a call
_SCHEMES = frozenset(b"bearer basic token apikey bot".split())
_CREDENTIAL = DIGITS + UPPER + LOWER + b"-._~+/="  # token68 of RFC 9110

# A header `Cookie:` or `Set-Cookie:`, a variable of that name, or an option, and the quotes before its value.
_COOKIES = re.compile(rb"(?:cookie[ \t\"'`\\\]]{0,40}[=:]|--cookie[ \t\"'`\\,])[ \t\"'`\\]{0,40}", re.IGNORECASE)
_COOKIE_LINE = re.compile(rb"[^\"'`\\\r\n]{0,4096}")
_COOKIE = re.compile(rb"([^;=]*)= *([^;]*)")
_COOKIE_ATTRIBUTES = frozenset(b"expires max-age domain path samesite priority".split())

_SHELL_END = b"\t\r\n\\;&|)<>" + QUOTES
_BARE_END = _SHELL_END + b",]}#"
_SHELL_WORDS = bytes.maketrans(_SHELL_END, b" " * len(_SHELL_END))
_BARE_WORDS = bytes.maketrans(_BARE_END, b" " * len(_BARE_END))


def find_assigned(data: bytes) -> Iterator[Found]:
    """Yield the values in a text (ASCII bytes) that are secret by the names they are assigned to, in any order."""
    for at, name, kind in find_names(data):
        found = _authorization_at(data, at) if kind == "authorization" else _value_at(data, at, name, kind)
        if found:
            yield found
    if b"ookie" in data or b"OOKIE" in data:
        starts = [match.end() for match in _COOKIES.finditer(data)]
        for start, end in pairwise([*starts, len(data)]):
            yield from _cookies_in(data, start, end)


def find_in_field(name: bytes, value: bytes) -> list[Found]:
    """Return the secrets in the value of an object's or table's field with this name."""
    name, kind = secret_name(name)
    if name.lower().endswith(b"cookie"):
        return list(_cookies_in(value, 0, len(value)))
    if kind == "authorization":
        found = _authorization_at(value, 0)
        return [found] if found else []
    if kind == PERHAPS:
        return [(0, len(value), kind)] if _may_be_secret(kind, value) and is_dense(value) else []
    return [(0, len(value), kind)] if kind and _is_quoted_secret(kind, name, value) else []


def _value_at(data: bytes, at: int, name: bytes, kind: str) -> Found | None:
    start, end, quoted = _literal_at(data, _behind_type(data, at), name.isupper())
    value = data[start:end]
    if kind == PERHAPS:
        secret = _may_be_secret(kind, value) and is_dense(value)
    elif quoted:
        secret = _is_quoted_secret(kind, name, value) and kind != "signature"
    elif name.startswith((b"--", b"?", b"X-", b"x-")):
        secret = _is_bare_literal(kind, value)
    else:
        secret = _is_bare_secret(kind, name, value, (data[at - 2 : start], data[end : end + 80]))
    return (start, end, kind) if secret else None


def _is_quoted_secret(kind: str, name: bytes, value: bytes) -> bool:
    if not _may_be_secret(kind, value):
        return False
    if len(value.split()) > 1:
        return kind == "password" and name.isupper()  # otherwise it is a label or a message
    if kind in ("password", "secret") or name.isupper():
        return True
    return not is_wordlike(value) and not value.strip(_CREDENTIAL + b":!@$%&")  # else it is a pattern or a color


def _is_bare_secret(kind: str, name: bytes, value: bytes, around: tuple[bytes, bytes]) -> bool:
    """Return whether a value without quotes is a secret.

    `around` is its operator with the preceding characters, and the text after it.
    """
    if not _may_be_secret(kind, value) or not _CODE.isdisjoint(value):
        return False
    operator, rest = around
    colon = b":" in operator
    tight = len(operator) == 2 and operator[0] in WORD  # noqa: PLR2004  # TOKEN=…
    if name.isupper() and tight and not colon:
        return True
    if name.isupper() and colon and not rest.partition(b"\n")[0].strip():
        return kind in ("password", "secret") or not is_wordlike(value)
    if kind == "password" and (tight or colon or not is_identifier(value)) and rest[:1] not in _CODE_FOLLOWS:
        return _is_bare_literal(kind, value)
    return is_random(value) and not _is_numbered_name(value)


def _is_bare_literal(kind: str, value: bytes) -> bool:
    """Return whether a value without quotes is a literal: no variable, word, type or number."""
    return (
        _may_be_secret(kind, value)
        and len(value) >= 6  # noqa: PLR2004
        and 0 < count_digits(value) < len(value)
        and _CODE.isdisjoint(value)
        and not _is_numbered_name(value)
    )


def _may_be_secret(kind: str, value: bytes) -> bool:
    shortest = 4 if kind in ("password", "secret") else 6
    number = value.isdigit() and kind != "password" and len(value) < 16  # noqa: PLR2004  # a count, a port, a time
    return len(value) >= shortest and not number and not is_placeholder(value) and not is_path(value)


def _is_numbered_name(value: bytes) -> bool:
    return names_a_secret(value.translate(None, DIGITS))  # password2, Ed25519PrivateKey


def _behind_type(data: bytes, at: int) -> int:
    """Return the start of a quoted value after a type annotation or `:=`: `token: str = "…"`, `token := "…"`."""
    name, _, rest = data[at : at + 64].partition(b"=")
    typed = data[at - 1 : at] == b":" and not name.strip(_TYPE) and MASK_OPENING not in name
    return at + len(name) + 1 if typed and rest.lstrip(SPACE).startswith((b'"', b"'", b"`")) else at


def _literal_at(data: bytes, at: int, shell: bool) -> tuple[int, int, bool]:
    """Return start and end of the literal at or after `at`, without its quotes, and whether it has quotes.

    The quotes may be escaped, once or several times, as in JSON within JSON.
    """
    at += len(leading(data[at : at + 64], _OPERATOR))
    prefix = leading(data[at : at + 2], b"bBfFrRuU@$")
    opening = data[at + len(prefix) : at + 16]
    escapes = leading(opening, b"\\")
    quote = opening[len(escapes) : len(escapes) + 1]
    quoted = quote != b"" and quote in QUOTES
    if quoted:
        at += len(prefix) + len(escapes) + 1
        end = _closing(data, at, escapes + quote)
        if end >= 0:
            return at, end, True
    value = data[at : at + _LONGEST_VALUE + 1].translate(_SHELL_WORDS if shell else _BARE_WORDS).partition(b" ")[0]
    if len(value) > _LONGEST_VALUE:
        return at, at, False  # too long for a secret
    value = value.rstrip(b"]}.,:")
    return at, at + len(value), quoted


def _closing(data: bytes, start: int, quote: bytes) -> int:
    """Return the position of the quote that closes a string on its line; -1 if there is none."""
    line = data[start : start + _LONGEST_VALUE].partition(b"\n")[0]
    end = line.find(quote)
    while end > 0 and line[end - 1 : end] == b"\\":
        end = line.find(quote, end + 1)
    return start + end if end >= 0 else -1


def _cookies_in(data: bytes, start: int, end: int) -> Iterator[Found]:
    """Yield the values of `name=value; …` on the line that begins at `start`."""
    line = _COOKIE_LINE.match(data, start, end)
    for pair in _COOKIE.finditer(line[0] if line else b""):
        value = pair[2].strip()
        if is_dense(value) and pair[1].strip().lower() not in _COOKIE_ATTRIBUTES and not is_placeholder(value):
            yield start + pair.start(2), start + pair.start(2) + len(value), "cookie"


def _authorization_at(data: bytes, at: int) -> Found | None:
    """Return the credentials of an HTTP header `Authorization: scheme credentials` (RFC 9110), or None."""
    at += len(leading(data[at : at + 64], _OPERATOR + QUOTES + b"\\"))
    scheme = leading(data[at : at + 16], _CREDENTIAL)
    known = scheme.lower() in _SCHEMES
    if known:
        at += len(scheme) + len(leading(data[at + len(scheme) : at + 64], SPACE))
    value = leading(data[at : at + _LONGEST_VALUE], _CREDENTIAL)
    words = is_wordlike(value) and (value.islower() or value.isupper() or value.istitle())
    literal = len(value) >= 8 and not words and not is_placeholder(value)  # noqa: PLR2004
    return (at, at + len(value), "authorization") if literal and (known or is_random(value)) else None

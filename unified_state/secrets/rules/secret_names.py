"""Names of secrets (`DB_PASSWORD`, `clientSecret`, `x-api-key`, but not `max_tokens`), and assignments to them in a
text: `password = `, `"apiKey": `, `--token `.

Names are ASCII bytes of letters, digits, `_` and `-`. A text (ASCII bytes, as `secret_tokens` explains) is split at
each `=` and `:`, and each piece is checked for such a name at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, compress

from unified_state.secrets.rules.secret_values import (
    DIGITS,
    LOWER,
    MASK_OPENING,
    UPPER,
    blank_but,
    last_word,
    leading,
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
# Names that hold a secret only if the value looks like one: STRIPE_KEY, GH_PAT, REGISTRY_AUTH. And cookies.
PERHAPS = "auth-key"
COOKIE = "cookie"
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

# The endings of all these names, and of HTTP credentials and signatures, after folding: letters in lower case, digits
# and signs of a name as `_`, everything else except line ends as a blank. The short endings include the possible
# character before them: none, a blank, a line end, or the last character of an escape.
NAME_ENDS = frozenset(
    (
        *((b"_" + name)[-4:] for names in (*_KINDS.values(), _QUALIFIERS) for name in names),
        *(bytes((before,)) + name for name in (b"pwd", b"sig") for before in b"_ \r\nabcdefnrt"),
        *(b"pwd", b"pass", b"_key", b"ture", b"tion", b"_pat", b"auth", b"reds", b"ikey", b"okie"),
    )
)
_OTHER_ENDS = tuple(b"pass pwd key pat auth creds cookie".split())
# The last letters of each name without its signs and digits.
_LAST_LETTERS = frozenset(name[-3:] for names in (*_KINDS.values(), _QUALIFIERS, _OTHER_ENDS) for name in names)

_known: dict[bytes, str | None] = {}
_MOST_KNOWN = 10_000


def kind_of_name(name: bytes) -> str | None:
    """Return the kind of secret that a variable, field, option or header of this name holds; None if it holds none.

    Results are cached, because a long text repeats few names.
    """
    if name not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[name] = _kind_of_name(name)
    return _known[name]


def _kind_of_name(name: bytes) -> str | None:
    squashed = name.translate(None, b"_-").lower().rstrip(DIGITS)
    if squashed[-3:] not in _LAST_LETTERS:
        return None
    lower = name.lower().lstrip(b"-")
    for qualifier in _QUALIFIERS:
        squashed = squashed.removesuffix(qualifier)
    for kind, names in _KINDS.items():
        if squashed.endswith(names):
            return None if _is_other(name) else kind
    short = lower.endswith(_SHORT_PASSWORDS) or name[1:].endswith((b"Pass", b"Pwd")) or name in (b"pwd", b"Pwd")
    if short:
        return "password"
    if lower.endswith(b"cookie"):
        return COOKIE
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
# Letters in lower case, other characters of a name as `_`, `:` as `=`, line ends unchanged, everything else blank:
# `"API-KEY2" :` ends in `_key_ =`.
_FOLDED = blank_but(UPPER + LOWER + DIGITS + b"_-=:\r\n", LOWER + LOWER + b"_" * 12 + b"==\r\n")
_OUTCOME = b"pass"  # alone it is a test result in some outputs
# For the start of an option, `--a`: dashes unchanged, all other characters of a name as `a`.
_OPTIONS = blank_but(WORD, b"a" * (len(WORD) - 1) + b"-")


def has_names(data: bytes) -> bool:
    """Return whether a text assigns a value to the name of a secret."""
    return next(find_names(data), None) is not None


def find_names(data: bytes) -> Iterator[tuple[int, bytes, str]]:
    """Yield the position after each assignment to the name of a secret, the name, and the kind of secret."""
    if b"=" in data or b":" in data:
        yield from _find_assignments(data)
    yield from _find_options(data)


def _find_assignments(data: bytes) -> Iterator[tuple[int, bytes, str]]:
    parts = data.translate(_FOLDED).split(b"=")
    naming = set(filter(_may_end_in_name, set(parts)))  # checks each distinct piece once
    ends = enumerate(accumulate(map(len, parts)) if naming else ())
    for signs, end in compress(ends, map(naming.__contains__, parts)):
        name, kind = secret_name(data[max(0, end + signs - _LONGEST_NAME) : end + signs])
        if kind:
            yield end + signs + 1, name, kind


def _may_end_in_name(part: bytes) -> bool:
    """Return whether a folded piece of text may end in the name of a secret."""
    end = part.rstrip(b" _")[-5:]
    return end[-4:] in NAME_ENDS and end.strip() != _OUTCOME


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


def _find_options(data: bytes) -> Iterator[tuple[int, bytes, str]]:
    """Yield the options of a command: `--password …`, or `"--password", "…"` in a list.

    `--password=…` is found as an assignment.
    """
    if b"-" not in data or b"--" not in data:
        return
    find = data.translate(_OPTIONS).find
    start = find(b"--a")
    while start >= 0:
        name = leading(data[start : start + _LONGEST_NAME], WORD)
        kind, at = kind_of_name(name), start + len(name)
        gap = leading(data[at : at + 8], SPACE + QUOTES + b"\\,") if kind else b""
        if kind and gap and (b"," in gap or gap[0] in SPACE):
            yield at + gap.find(b",") + 1, name, kind
        start = find(b"--a", at)

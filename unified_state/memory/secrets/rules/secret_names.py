"""Which names say that their value is a secret: `DB_PASSWORD`, `clientSecret`, `x-api-key`, but not `max_tokens`.

Names are ASCII bytes of letters, digits, `_` and `-`.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_values import DIGITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

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
_SHORT_PASSWORDS = (b"_pass", b"-pass", b"_pwd", b"-pwd")  # PASS alone is a test's result, PWD alone a folder
# Names that hold a secret where the value looks like one: STRIPE_KEY, GH_PAT, REGISTRY_AUTH; and those of cookies.
PERHAPS = "auth-key"
COOKIE = "cookie"
_PERHAPS_ENDS = (b"_KEY", b"_PAT", b"_AUTH", b"_CREDS", b"_APIKEY")
_PUBLIC = (b"PUBLIC_KEY", b"PRIMARY_KEY", b"FOREIGN_KEY", b"CACHE_KEY", b"SORT_KEY")
_QUALIFIERS = tuple(b"prod dev staging test live old new".split())  # DB_PASSWORD_PROD
# Tokens of language models, of pages, of cancellation and of requests; secrets only referred to, as in Kubernetes.
_OTHERS = tuple(
    b"pad_token eos_token bos_token unk_token sep_token cls_token mask_token stop_token start_token end_token"
    b" special_token next_token page_token continuation_token cursor_token sync_token forward_token backward_token"
    b" sequence_token starting_token cancel_token cancellation_token idempotency_token change_token lock_token"
    b" public_key_token existing_secret tls_secret pull_secret".split()
)
_OTHERS_IN_SNAKE_CASE = tuple(b"_" + name for name in _OTHERS)
_OTHERS_IN_CAMEL_CASE = tuple(name.title().replace(b"_", b"") for name in _OTHERS)

# What all these names, and those of HTTP credentials and signatures, end in when letters are in lower case, the digits
# and signs of a name `_`, and all else but line ends is blank; the short ones with what may be in front of them:
# nothing, a blank, a line end, the last character of an escape.
NAME_ENDS = frozenset(
    (
        *((b"_" + name)[-4:] for names in (*_KINDS.values(), _QUALIFIERS) for name in names),
        *(bytes((before,)) + name for name in (b"pwd", b"sig") for before in b"_ \r\nabcdefnrt"),
        *(b"pwd", b"pass", b"_key", b"ture", b"tion", b"_pat", b"auth", b"reds", b"ikey", b"okie"),
    )
)
_OTHER_ENDS = tuple(b"pass pwd key pat auth creds cookie".split())
# In what each of them ends without its signs and digits.
_LAST_LETTERS = frozenset(name[-3:] for names in (*_KINDS.values(), _QUALIFIERS, _OTHER_ENDS) for name in names)

_known: dict[bytes, str | None] = {}
_MOST_KNOWN = 10_000


def kind_of_name(name: bytes) -> str | None:
    """What kind of secret a variable, field, option or header of this name holds; None where it holds none.

    A long text has few names, again and again.
    """
    if name not in _known:
        remember(_known, name, _kind_of_name(name))
    return _known[name]


def remember(known: dict[bytes, T], text: bytes, answer: T) -> None:
    """Keep an answer for the next time; not without end."""
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[text] = answer


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
    snake = b"_" + name.replace(b"-", b"_")  # only in lower case: what a shell calls PAGE_TOKEN may well be a secret
    camel = name[:1].upper() + name[1:]
    return snake.endswith(_OTHERS_IN_SNAKE_CASE) or camel.endswith(_OTHERS_IN_CAMEL_CASE)

"""Where in a text something is given to the name of a secret: `password = `, `"apiKey": `, `--token `.

The text is cut at every `=` and `:`, and asked whether such a name may stand in front. It is ASCII bytes, as
`secret_formats` explains.
"""

from __future__ import annotations

from itertools import accumulate, compress

from unified_state.memory.secrets.rules.secret_names import NAME_ENDS, kind_of_name, remember
from unified_state.memory.secrets.rules.secret_values import (
    DIGITS,
    LOWER,
    MASK_OPENING,
    UPPER,
    blank_but,
    last_word,
    leading,
    trailing,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = DIGITS + UPPER + LOWER + b"_-"
SPACE = b" \t"
QUOTES = b"\"'`"
_AFTER_NAME = SPACE + QUOTES + b"\\]"  # os.environ["TOKEN"] = …, \"token\": …
_LONGEST_NAME = 120
_SIGNATURES = (b"sig", b"signature")
# Letters in lower case, what else a name may hold as `_`, `:` as `=`, line ends as they are, all else blank:
# `"API-KEY2" :` ends in `_key_  =`.
_FOLDED = blank_but(UPPER + LOWER + DIGITS + b"_-=:\r\n", LOWER + LOWER + b"_" * 12 + b"==\r\n")
_OUTCOME = b"pass"  # where it stands alone, as before each test in some outputs
# Where an option begins: `--a`, with dashes as they are and all else that a name may hold as `a`.
_OPTIONS = blank_but(WORD, b"a" * (len(WORD) - 1) + b"-")

_NEAR = 12  # characters in which most names stand, with what is in front
_ESCAPED = 6  # characters of a \u0026
_BLANKS = b" \n"
_known: dict[bytes, tuple[bytes, str]] = {}  # what a piece of text of that length ends in
_no_options: dict[bytes, int] = {}  # how long the names of no secrets are that such a piece begins with


def has_names(data: bytes) -> bool:
    """Whether anything at all is assigned to the name of a secret."""
    return next(find_names(data), None) is not None


def find_names(data: bytes) -> Iterator[tuple[int, bytes, str]]:
    """Behind each assignment to the name of a secret: where, the name, and the kind of secret."""
    parts = data.translate(_FOLDED).split(b"=")
    naming = set(filter(_may_end_in_name, set(parts)))  # each is asked once
    ends = enumerate(accumulate(map(len, parts)) if naming else ())
    for signs, end in compress(ends, map(naming.__contains__, parts)):
        name, kind = _name_before(data, end + signs)
        if kind:
            yield end + signs + 1, name, kind
    yield from _find_options(data)


def _may_end_in_name(part: bytes) -> bool:
    """Whether a folded piece of text may end in the name of a secret."""
    end = part.rstrip(b" _")[-5:]
    return end[-4:] in NAME_ENDS and end.strip() != _OUTCOME


def _name_before(data: bytes, end: int) -> tuple[bytes, str]:
    """What `secret_name` says of the text in front of an operator. A long text has the same few names again and again,
    most of them behind a blank: what stands before that says nothing of them.
    """
    near = data[max(0, end - _NEAR) : end]
    found = _known.get(near)
    if found is None:
        found = secret_name(data[max(0, end - _LONGEST_NAME) : end])
        before = near.rstrip(_AFTER_NAME).removesuffix(found[0])
        if len(before) >= _ESCAPED and before[-1] in _BLANKS:
            remember(_known, near, found)
    return found


def secret_name(head: bytes) -> tuple[bytes, str]:
    """The name that the text in front of an operator ends in, and the kind of secret it stands for, empty for none.

    A name in a URL's query gets a `?` in front, one of an option has its dashes.
    """
    head = head.rstrip(_AFTER_NAME)
    name = last_word(head, WORD)
    before = head[: len(head) - len(name)]
    amazon = before.endswith(b":") and trailing(before, WORD + b":").startswith(b"arn:")
    masked = before.rstrip(b":").endswith(b"]") and MASK_OPENING in before
    if amazon or masked or before.endswith((b"::", b"/")):
        return name, ""  # part of the name of a resource or a type, of a masked word, of a URL's user
    query = before.endswith((b"?", b"&")) or before[-6:-4] == b"\\u"  # \u0026 is &
    lower = name.lower()
    if lower.endswith(b"authorization"):
        return name, "authorization"
    kind = "signature" if query and lower.endswith(_SIGNATURES) else kind_of_name(name) or ""
    return (b"?" + name if query else name), kind


def _find_options(data: bytes) -> Iterator[tuple[int, bytes, str]]:
    """The options of a command: `--password …`, or `"--password", "…"` in a list; `--password=…` is an assignment."""
    if b"--" not in data:
        return
    find = data.translate(_OPTIONS).find
    start = find(b"--a")
    while start >= 0:
        near = data[start : start + _NEAR]
        length = _no_options.get(near, 0)
        if not length:
            name = leading(data[start : start + _LONGEST_NAME], WORD)
            kind = kind_of_name(name)
            length = len(name)
            at = start + length
            gap = leading(data[at : at + 8], SPACE + QUOTES + b"\\,") if kind else b""
            if kind and gap and (b"," in gap or gap[0] in SPACE):
                yield at + gap.find(b",") + 1, name, kind
            elif not kind and length < len(near):
                remember(_no_options, near, length)
        start = find(b"--a", start + length)

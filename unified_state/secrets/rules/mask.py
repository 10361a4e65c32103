"""Masking: tokens, keys and passwords are replaced by `[MASKED github-token 3fa9c1d2]` before a text is written.

The mask names the kind and has a tag that distinguishes two secrets. It has no character that JSON would escape or that
ends a quoted string. Invariant: a mask is never masked again and only secrets change, so masking is idempotent.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from unified_state.secrets.rules.secret_tokens import Found, find_formats

_SHORTEST_TEXT = 8  # `pwd:abcd`
# With the dots before a mask, over which a token in front would have extended.
_MASK = re.compile(rb"\.{0,8}\[MASKED [A-Za-z0-9-]{1,70} [A-Za-z0-9]{1,70}\]")
_PIECE, _AROUND = 1 << 22, 1 << 17  # characters that are searched at once, and by which two pieces overlap
# Terminal control sequences, such as colors, by the grammar of ECMA-48: as bytes (ESC, or the single character U+009B),
# and in the notations of source code and JSON (`\033[32m`, `\x1b[32m`, `\e[32m`, `\u001b[32m`).
_SEQUENCE = re.compile(
    rb"(?:(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[|\x9b)[0-?]{0,62}[ -/]{0,62}[@-~]|\x1b[ -/]{0,62}[0-~]"
)
_CONTROL_INTRODUCER = b"\x9b"
_SEQUENCE_SIGNS = (b"\x1b", _CONTROL_INTRODUCER, b"\\")  # one is in each control sequence
# Full-width signs and spaces without a break, each of which stands for one ASCII character.
_FORMS = {sign + 0xFEE0: sign for sign in range(0x21, 0x7F)} | dict.fromkeys((0xA0, 0x2007, 0x202F, 0x3000), 0x20)
_FORM = re.compile(f"[{''.join(map(chr, _FORMS))}]")
_PROGRAMS = (b"set -", b"setenv ", *b"curl login mysql mariadb mongo redis-cli sshpass ldapsearch".split())
_MASKED = ""  # the kind of a span that is already a mask


def _find_placed(data: bytes) -> list[Found]:
    """Return the secrets recognized by their position. Few texts have the keywords that precede one."""
    has_option = b" -" in data and any(program in data for program in _PROGRAMS)
    if not (has_option or b"machine" in data or b"ENV" in data):
        return []
    from unified_state.secrets.rules.secret_commands import find_by_place

    return list(find_by_place(data))


def _as_bytes(text: str) -> bytes:
    """Return a text as ASCII bytes, one per character. Other forms of ASCII count as that, and U+009B, which starts a
    control sequence, keeps its value.
    """
    if not text.isascii() and _FORM.search(text):
        text = text.translate(_FORMS)
    if "\x9b" in text:
        return _CONTROL_INTRODUCER.join(part.encode("ascii", "replace") for part in text.split("\x9b"))
    return text.encode("ascii", "replace")


def find_secrets(text: str) -> list[Found]:
    """Return start, end and kind of the secrets in a text, in order. They overlap neither each other nor a mask."""
    if len(text) < _SHORTEST_TEXT:
        return []
    if len(text) <= _PIECE:
        return _disjoint(_find_beside_masks(text))
    return _disjoint(
        [
            (begin + start, begin + end, kind)
            for begin, until in _pieces(text)
            for start, end, kind in _find_beside_masks(text[begin:until])
            if begin == 0 or start >= _AROUND // 2  # the piece before has what is in front of it too
        ]
    )


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of overlapping pieces of a long text, which would take several times its size at once."""
    step = _PIECE - _AROUND
    return ((begin, begin + _PIECE) for begin in range(0, len(text), step))


def _find_beside_masks(text: str) -> list[Found]:
    """Return the secrets in a text with the masks in it; nothing if it has no secret."""
    data = _as_bytes(text)
    found = _find_everywhere(data)
    return [*found, *_find_masks(data)] if found else []


def _visible(data: bytes) -> tuple[bytes, array[int]]:
    """Return a text without its control sequences, and the position of each character in the whole text."""
    places, end = array("I"), 0
    for match in _SEQUENCE.finditer(data):
        places.extend(range(end, match.start()))
        end = match.end()
    places.extend(range(end, len(data)))
    return _SEQUENCE.sub(b"", data), places


def _find_everywhere(data: bytes) -> list[Found]:
    """Return the secrets in a text.

    If it has control sequences, it is searched with blanks in their place, and with the sequences removed. A token's
    first letter may end a sequence, so tokens are searched in the text itself too.
    """
    if not any(map(data.__contains__, _SEQUENCE_SIGNS)) or not _SEQUENCE.search(data):
        return _find_all(data)
    shown, places = _visible(data)
    placed = [(places[start], places[end - 1] + 1, kind) for start, end, kind in _find_all(shown)]
    blanked = _SEQUENCE.sub(lambda match: b" " * len(match[0]), data)
    return [*_find_all(blanked), *placed, *find_formats(data)]


def _find_all(data: bytes) -> list[Found]:
    from unified_state.secrets.rules.secret_assignments import find_assigned

    return [*find_formats(data), *find_assigned(data), *_find_placed(data)]


def mask_text(text: str, tag: Callable[[str], str]) -> str:
    """Return the text with its secrets masked; the same object if it has none. `tag` returns the keyed hash of a
    secret.
    """
    return _mask_found(text, find_secrets(text), tag)


def hide_secrets(text: str) -> str:
    """Return a message to the user with its secrets masked, without tags."""
    return mask_text(text, lambda _secret: "here")


def mask_value(value: Any, tag: Callable[[str], str]) -> Any:
    """Return the JSON value with the secrets in its texts and field names masked.

    Secrets recognized only by the name of their field are masked too.
    """
    top = [value]
    waiting: list[Any] = [top]  # no recursion: JSON may be nested deeper than Python's recursion limit
    while waiting:
        container = waiting.pop()
        for key, entry in list(container.items()) if isinstance(container, dict) else enumerate(container):
            if isinstance(entry, str):
                found = _find_in_field(key, entry) if isinstance(key, str) else find_secrets(entry)
                container[key] = _mask_found(entry, found, tag)
            elif isinstance(entry, (dict, list)):
                container[key] = entry.copy()
                waiting.append(container[key])
        if isinstance(container, dict):
            _mask_keys(container, tag)
    return top[0]


def _mask_keys(fields: dict[str, Any], tag: Callable[[str], str]) -> None:
    """Mask the secrets in the names of the fields, without changing their order."""
    masked = {name: mask_text(name, tag) for name in fields}
    if any(name != shown for name, shown in masked.items()):
        entries = [(masked.get(name, name), entry) for name, entry in fields.items()]
        fields.clear()
        fields.update(entries)


def _find_in_field(name: str, value: str) -> list[Found]:
    from unified_state.secrets.rules.secret_assignments import find_in_field

    data = _as_bytes(value)
    named = find_in_field(_as_bytes(name), data)
    return _disjoint([*find_secrets(value), *named, *_find_masks(data)]) if named else find_secrets(value)


def _mask_found(text: str, found: list[Found], tag: Callable[[str], str]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in found:
        parts += text[done:start], f"[MASKED {kind} {tag(text[start:end])}]"
        done = end
    return "".join([*parts, text[done:]]) if found else text


def _find_masks(data: bytes) -> Iterator[Found]:
    return ((*match.span(), _MASKED) for match in _MASK.finditer(data))


def _disjoint(found: list[Found]) -> list[Found]:
    """Return the spans with overlapping ones merged, without masks.

    A merged span has the kind of the one that begins first or is longer. A mask absorbs the spans that touch it,
    because these became secrets only through the boundary that the mask created.
    """
    groups: list[Found] = []
    for start, end, kind in sorted(found, key=lambda secret: (secret[0], -secret[1])):
        first, last, first_kind = groups[-1] if groups else (0, -1, "")
        masked = _MASKED in (first_kind, kind)
        if start < last or (masked and start == last):
            groups[-1] = (first, max(last, end), _MASKED if masked else first_kind)
        else:
            groups.append((start, end, kind))
    return [group for group in groups if group[2]]


HIDDEN = "[private: not kept]"
_PRIVATE = re.compile("<private>.*?(?:</private>|\\Z)", re.ASCII | re.DOTALL | re.IGNORECASE)


def hide_private(text: str) -> str:
    """Return the prompt without the text between private tags. An unclosed tag hides the rest of the prompt."""
    return _PRIVATE.sub(HIDDEN, text)

"""Secrets are masked before anything is written: tokens, keys, passwords become `[MASKED github-token 3fa9c1d2]`.

The mask says that it is one, names the kind, and carries a tag by which two secrets are told apart; it holds nothing
that JSON would escape or that ends a quoted string. Invariant: a mask is never masked again and nothing outside the
secrets changes, so masking twice gives what masking once gave.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_names import has_names
from unified_state.memory.secrets.rules.secret_tokens import KEY_LABEL, find_formats
from unified_state.memory.secrets.rules.secret_values import MASK_OPENING, OPTIONS, trailing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from unified_state.memory.secrets.rules.secret_tokens import Found


_SHORTEST_TEXT = 8  # `pwd:abcd`
_LONGEST_MASK = 80
_ESCAPE = b"\x1b"
_CONTROL_INTRODUCER = b"\x9b"
_WRITTEN = (b"u001b[", b"u001B[", b"x1b[", b"x1B[", b"033[", b"e[")  # behind a backslash
_MASKED = ""  # stands for the kind where a mask is already


def needs_masking(text: str) -> bool:
    """False only where neither the text nor, if it is JSON, any string in it holds a secret.

    Many texts joined by line ends are asked faster at once than one by one.
    """
    data = _as_bytes(text)
    if not _may_hold_sequences(data):
        return _may_hold_secrets(data)
    from unified_state.memory.secrets.rules.control_sequences import Shown, blanked, control_sequences

    sequences = control_sequences(data)
    if not sequences:
        return _may_hold_secrets(data)
    return _may_hold_secrets(blanked(data, sequences)) or _may_hold_secrets(Shown(data, sequences).text)


def _may_hold_secrets(data: bytes) -> bool:
    return (
        KEY_LABEL in data or next(find_formats(data), None) is not None or has_names(data) or bool(_find_placed(data))
    )


def _find_placed(data: bytes) -> list[Found]:
    """The secrets that their place gives away. Few texts hold a word that has to stand in front of one."""
    has_option = any(part.startswith(OPTIONS) for part in data.split(b" -")[1:])
    if not (has_option or b"machine " in data or b"ENV" in data):
        return []
    from unified_state.memory.secrets.rules.secret_commands import find_by_place

    return list(find_by_place(data))


def _may_hold_sequences(data: bytes) -> bool:
    """Whether a terminal control sequence may begin in a text: few texts are searched further than here.

    A text is split at its backslashes once, since a search for each way to write a sequence takes longer.
    """
    if _ESCAPE in data or _CONTROL_INTRODUCER in data:
        return True
    if b"\\" not in data or b"[" not in data:
        return False
    return any(part.startswith(_WRITTEN) for part in data.split(b"\\")[1:])


def _as_bytes(text: str) -> bytes:
    """ASCII bytes, a character each. Only U+009B, with which a control sequence may begin, stays what it is."""
    if "\x9b" in text:
        return _CONTROL_INTRODUCER.join(part.encode("ascii", "replace") for part in text.split("\x9b"))
    return text.encode("ascii", "replace")


def find_secrets(text: str) -> list[Found]:
    """Where the secrets in the text begin and end, and their kinds: in order, apart from each other and from masks."""
    if len(text) < _SHORTEST_TEXT:
        return []
    data = _as_bytes(text)
    found = _find_everywhere(data)
    return _disjoint([*found, *_find_masks(data)]) if found else []


def _find_everywhere(data: bytes) -> list[Found]:
    """The secrets in a text; where it holds control sequences, those before a blank takes the place of each character
    of them, and those that are whole where they are left out.
    """
    if not _may_hold_sequences(data):
        return _find_all(data)
    from unified_state.memory.secrets.rules.control_sequences import Shown, blanked, control_sequences

    sequences = control_sequences(data)
    if not sequences:
        return _find_all(data)
    text, shown = blanked(data, sequences), Shown(data, sequences)
    placed = [(*shown.place(start, end), kind) for start, end, kind in _find_all(shown.text)]
    return [*_find_all(text), *placed]


def _find_all(data: bytes) -> list[Found]:
    from unified_state.memory.secrets.rules.secret_assignments import find_assigned

    return [*find_formats(data), *find_assigned(data), *_find_placed(data)]


def mask_text(text: str, tag: Callable[[str], str]) -> str:
    """The text with its secrets masked, itself where there are none; `tag` gives the short keyed hash of a secret."""
    return _mask_found(text, find_secrets(text), tag)


def mask_value(value: Any, tag: Callable[[str], str]) -> Any:
    """The JSON value with the secrets in its texts and in the names of its fields masked, also those that only the name
    of their field gives away.
    """
    top = [value]
    waiting: list[Any] = [top]  # not by recursion: JSON may be nested deeper than Python likes to go
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
    """Mask the secrets in the names of the fields, which keep their order."""
    masked = {name: mask_text(name, tag) for name in fields}
    if any(name != shown for name, shown in masked.items()):
        entries = [(masked.get(name, name), entry) for name, entry in fields.items()]
        fields.clear()
        fields.update(entries)


def _find_in_field(name: str, value: str) -> list[Found]:
    from unified_state.memory.secrets.rules.secret_assignments import find_in_field

    data = _as_bytes(value)
    named = find_in_field(name.encode("ascii", "replace"), data)
    return _disjoint([*find_secrets(value), *named, *_find_masks(data)]) if named else find_secrets(value)


def _mask_found(text: str, found: list[Found], tag: Callable[[str], str]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in found:
        parts += text[done:start], f"[MASKED {kind} {tag(text[start:end])}]"
        done = end
    return "".join([*parts, text[done:]]) if found else text


def _find_masks(data: bytes) -> Iterator[Found]:
    at = data.find(MASK_OPENING)
    while at >= 0:
        inside = at + len(MASK_OPENING)
        kind, _, rest = data[inside : inside + _LONGEST_MASK].partition(b" ")
        tag, closing, _ = rest.partition(b"]")
        if closing and kind.replace(b"-", b"").isalnum() and tag.isalnum():
            dots = len(trailing(data[max(0, at - 8) : at], b"."))  # a token in front would have gone on behind them
            yield at - dots, inside + len(kind) + len(tag) + 2, _MASKED
        at = data.find(MASK_OPENING, inside)


def _disjoint(found: list[Found]) -> list[Found]:
    """What overlaps becomes one, of the kind that begins first or reaches further; a mask takes what touches it along,
    since that was no secret before the mask gave it a boundary.
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


_OPEN, _CLOSE = "<private>", "</private>"
_TO_LOWER = {
    upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)
}  # unlike lower(), it never changes the length
HIDDEN = "[private: not kept]"


def hide_private(text: str) -> str:
    """The prompt without what stands between the tags; a tag that is never closed hides all that follows."""
    folded = text.translate(_TO_LOWER)
    kept = []
    position = 0
    while (begin := folded.find(_OPEN, position)) >= 0:
        kept += [text[position:begin], HIDDEN]
        end = folded.find(_CLOSE, begin)
        position = len(text) if end < 0 else end + len(_CLOSE)
    return "".join([*kept, text[position:]]) if kept else text

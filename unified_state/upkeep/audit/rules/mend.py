"""A finding of the audit, and the command that mends it."""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.text import cut, one_line
from unified_state.memory.ledger.rules.short_item import main_text
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import ATTEMPT, CONSTRAINT, EVIDENCE, LedgerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DUPLICATE, CONTRADICTION, GONE, STALE_RESULT = "duplicate", "contradiction", "gone", "stale result"
OF_ANOTHER_PROJECT, SECRET, NEVER_RECALLED = "of another project", "secret", "never recalled"
KINDS = (SECRET, CONTRADICTION, OF_ANOTHER_PROJECT, GONE, STALE_RESULT, DUPLICATE, NEVER_RECALLED)
_SHOWN = 80  # characters of an item in the reason of a finding
_PROGRAM = "unified-state"
_IN_NAMES = "./_-+"  # characters within a path or a version, beside letters and digits
_SPECIAL = "\\/[]*.^$"  # characters with a meaning in a basic regular expression of sed


_PLAIN = "_-./@%+=:,"  # characters that a shell takes as they are, beside letters and digits


def quote(word: str) -> str:
    """Return a word as a shell takes it unchanged."""
    if word and all((character.isascii() and character.isalnum()) or character in _PLAIN for character in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


class Finding(Record):
    """A finding: its kind, the item or the place that it is about, the reason, and the command that mends it."""

    kind: str
    ref: str
    why: str
    command: str


def shown(item: LedgerItem) -> str:
    """Return an item in a few words: `D3 "Use SQLite"`."""
    return f'{item.alias} "{cut(one_line(main_text(item)), _SHOWN)}"'


def end_command(item: LedgerItem) -> str:
    """Return the command that ends an item."""
    if item.status == "proposed":
        return f"{_PROGRAM} inbox reject {item.alias}"
    if item.kind in (EVIDENCE, ATTEMPT):
        return f"{_PROGRAM} close {item.alias}"
    return f"{_PROGRAM} drop {item.alias}"


def edit_command(item: LedgerItem, old: str, new: str) -> str:
    """Return the command that replaces a name in an item's text. If its text does not have that name exactly once, or
    the user said it, return the command that ends the item.
    """
    text = main_text(item)
    places = list(_places(old, text)) if old else []
    if len(places) != 1 or item.kind in (EVIDENCE, ATTEMPT) or item.origin == USER_SAID or "\n" in text:
        return end_command(item)
    changed = text[: places[0]] + new + text[places[0] + len(old) :]
    return f"{_PROGRAM} edit {item.alias} {quote(changed)}"


def _places(name: str, text: str) -> Iterator[int]:
    """Yield the positions of a name that is not part of a longer one, such as 5.0.1 in 15.0.12."""
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        before, after = text[max(0, place - 1) : place], text[end : end + 1]
        ends_sentence = after == "." and not text[end + 1 : end + 2].strip()
        if not _is_of_name(before) and (ends_sentence or not _is_of_name(after)):
            yield place
        place = text.find(name, end)


def _is_of_name(character: str) -> bool:
    return character != "" and character.isascii() and (character.isalnum() or character in _IN_NAMES)


def settle_command(one: LedgerItem, other: LedgerItem) -> str:
    """Return the command that settles which of two contradicting items holds: the user's word, a constraint, the newer
    one.
    """
    older, newer = sorted((one, other), key=lambda item: (item.created_at, item.uuid))
    weaker, stronger = sorted((older, newer), key=_authority)
    if weaker.kind == stronger.kind == "decision" and weaker is older:
        return f"{_PROGRAM} decision supersede {weaker.alias} --by {stronger.alias}"
    return end_command(weaker)


def second_of(one: LedgerItem, other: LedgerItem) -> tuple[LedgerItem, LedgerItem]:
    """Return two items that say the same: the one that is kept, and the other one."""
    older, newer = sorted((one, other), key=lambda item: (item.created_at, item.uuid))
    rank = (_authority(older)[0], older.status == "active"), (_authority(newer)[0], newer.status == "active")
    return (newer, older) if rank[1] > rank[0] else (older, newer)


def _authority(item: LedgerItem) -> tuple[bool, bool]:
    return item.origin == USER_SAID, item.kind == CONSTRAINT


def cut_command(path: str, line: int, sentence: str, place: int) -> str:
    """Return the command that takes a sentence out of a line of a file, and keeps the file beside it.

    The copy has the line and the place of the sentence among all statements in its name: each command keeps its own.
    """
    escaped = "".join(f"\\{character}" if character in _SPECIAL else character for character in sentence)
    return _sed(f"{line}.{place}.bak", f"{line}s/{escaped}//", path)


def blank_command(path: str, line: int) -> str:
    """Return the command that empties a line of a file, and keeps the file beside it. The lines keep their numbers, so
    several such commands can be run in any order.
    """
    return _sed(f"{line}.bak", _blank(line), path)


def wipe_command(path: str, line: int) -> str:
    """Return the command that empties a line of a file, and keeps no copy."""
    suffix = f"{line}.unified-state"  # sed of macOS needs one
    return f"{_sed(suffix, _blank(line), path)} && rm {quote(f'{path}.{suffix}')}"


def _blank(line: int) -> str:
    return f"{line}s/.*//"


def _sed(suffix: str, script: str, path: str) -> str:
    return f"LC_ALL=C sed -i.{suffix} {quote(script)} {quote(path)}"  # else `.` matches no byte that is not UTF-8

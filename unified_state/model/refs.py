"""Refs: the short names that `recall` and `forget` take. A letter for the kind and a number: D7, T41, S1234, K2."""

from __future__ import annotations

from collections.abc import Iterator

from unified_state.errors import UsageError
from unified_state.model.item import ALIAS_LETTERS

ITEM, TURN, STEP, COMPACTION = "item", "turn", "step", "compaction"
_LETTERS = {**dict.fromkeys(ALIAS_LETTERS.values(), ITEM), "T": TURN, "S": STEP, "K": COMPACTION}
GLOBAL_MARK = "global:"  # begins the ref of an item for all projects, outside its own archive
_UUID_LENGTH = 36
_LARGEST = 2**63 - 1  # an SQLite integer


def step_refs(text: str) -> Iterator[tuple[str, int]]:
    """Yield the refs of steps and turns in a text: `see S12 and T41`."""
    import re  # for texts that people and models wrote, never on the prompt path

    for found in re.finditer(r"\b([ST])(\d{1,18})\b", text, re.ASCII):
        yield _LETTERS[found[1]], int(found[2])


def note_number(ref: str) -> int | None:
    """Return the number of a to-do's or highlight's id such as `N5`, or None for another ref."""
    digits = ref[1:]
    return int(digits[:18]) if ref[:1] in {"N", "n"} and digits.isascii() and digits.isdigit() else None


def kind_of(text: str) -> str | None:
    """Return the kind of a ref, or None for what is no ref."""
    try:
        return parse_ref(text)[0]
    except UsageError:
        return None


def parse_ref(text: str) -> tuple[str, int]:
    """Return the kind and the number of a ref. For the UUID of an item the number is 0. Raises UsageError."""
    letter, digits = text[:1].upper(), text[1:]
    if letter in _LETTERS and digits.isascii() and digits.isdigit() and int(digits[:20]) <= _LARGEST:
        return _LETTERS[letter], int(digits[:20])
    if len(text) == _UUID_LENGTH and text.count("-") == 4:  # noqa: PLR2004  # the dashes of a UUID
        return ITEM, 0
    message = f"unknown ref {text[:60]!r}"
    raise UsageError(message, "refs look like D7, C3, Q1, E12 (items), T41 (a turn), S1234 (a step), K2 (a compaction)")

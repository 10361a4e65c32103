"""Of two statements on the same thing that differ in a number or a negation, the newer one counts."""

from __future__ import annotations

from collections.abc import Mapping

from unified_state.lib.query import STOP_WORDS, words_of

OLDER = "older"  # the status of a step whose statement a newer one among the hits changes
_NEGATIONS = frozenset({"not", "no", "never", "without", "t", "longer", "cannot"})
_MOST_WORDS = 60  # of a statement; longer texts say many things
_LEAST_SHARED = 3  # words beside numbers and negations
_ALIKE = 0.6  # share of their words that both have


def older_steps(statements: Mapping[int, str], times: Mapping[int, int]) -> dict[int, int]:
    """Return the steps that a newer one changes, each with that newer one. `statements` are texts by step numbers,
    `times` tells when they were made, with 0 for an unknown time.
    """
    read = {number: told for number, text in statements.items() if (told := _read(text)) is not None}
    places = {number: place for place, number in enumerate(sorted(read, key=lambda number: (times[number], number)))}
    older: dict[int, int] = {}
    for newer in reversed(places):
        for number, told in read.items():
            is_earlier = places[number] < places[newer]
            if is_earlier and number not in older and newer not in older and _changes(read[newer], told):
                older[number] = newer
    return older


def _read(text: str) -> tuple[frozenset[str], frozenset[str], bool] | None:
    """Return the words of a statement, its numbers, and whether it denies; None if it is too long."""
    words = words_of(text[: _MOST_WORDS * 20])
    if len(words) > _MOST_WORDS or text.rstrip().endswith("?"):
        return None
    numbers = frozenset(word for word in words if any(sign.isdigit() for sign in word))
    told = frozenset(words) - numbers - STOP_WORDS - _NEGATIONS
    return told, numbers, not _NEGATIONS.isdisjoint(words)


def _changes(
    newer: tuple[frozenset[str], frozenset[str], bool], older: tuple[frozenset[str], frozenset[str], bool]
) -> bool:
    shared = newer[0] & older[0]
    if len(shared) < _LEAST_SHARED or len(shared) < _ALIKE * len(newer[0] | older[0]):
        return False
    is_number_changed = bool(newer[1]) and bool(older[1]) and newer[1] != older[1]
    return is_number_changed or newer[2] != older[2]

"""Pairs among many statements that say the same or the opposite. The number of comparisons is bounded.

Two statements are compared if they share a word that few others have. Equal texts are found without a comparison.
"""

from __future__ import annotations

from unified_state.memory.ledger.rules.contradictions import read_statement, statement_relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.memory.ledger.rules.contradictions import Statement

_MOST_LISTED = 40  # statements with the same word; of more the newest
_MOST_PAIRS = 100_000
SAME = "same"


def alike(texts: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the positions of two texts, the earlier first, and how they are related: `same`, `duplicates` or
    `contradicts`. Of equal texts each is related to the first one alone.
    """
    first: dict[str, int] = {}
    by_word: dict[str, list[int]] = {}
    statements: dict[int, Statement] = {}
    pairs = 0
    for position, text in enumerate(texts):
        plain = " ".join(text.casefold().split())
        if not plain:
            continue
        if plain in first:
            yield first[plain], position, SAME
            continue
        first[plain] = position
        statement = statements[position] = read_statement(text)
        others = {other for word in statement.content for other in by_word.get(word, ())[-_MOST_LISTED:]}
        for other in sorted(others):
            pairs += 1
            if pairs > _MOST_PAIRS:
                return
            relation = statement_relation(statement, statements[other])
            if relation is not None:
                yield other, position, relation
        for word in statement.content:
            by_word.setdefault(word, []).append(position)


def opposed(said: Sequence[str], written: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of a text of `said` and of one of `written` that contradict each other."""
    by_word: dict[str, list[int]] = {}
    for position, text in enumerate(said):
        for word in read_statement(text).content:
            by_word.setdefault(word, []).append(position)
    pairs = 0
    for place, text in enumerate(written):
        statement = read_statement(text)
        others = {other for word in statement.content for other in by_word.get(word, ())[-_MOST_LISTED:]}
        for other in sorted(others):
            pairs += 1
            if pairs > _MOST_PAIRS:
                return
            if statement_relation(statement, read_statement(said[other])) == "contradicts":
                yield other, place

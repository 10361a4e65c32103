"""A statement as it is read for a comparison: what it speaks of, in which clause, and whether it affirms or denies it.

A thing is denied where its clause has an odd number of negations, and where something else is preferred to it (`use A
rather than B`, `from B to A`, `A, not B`).
"""

from __future__ import annotations

from unified_state.capture.rules.terms import BREAK, NAME, NUMBER, SENSE, Term, read_terms
from unified_state.capture.rules.word_meanings import meaning, stem
from unified_state.capture.rules.word_senses import BY, EXCEPT, FROM, IF, NOT, OVER, TO, UNTIL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_REPLACE = {stem("replace"), stem("swap"), stem("substitute")}
_GIVEN_UP_WEIGHT = 0.3  # of what a claim only names to reject it
_OPENS_A_LIMIT = {EXCEPT, UNTIL, IF}


class Clause:
    """One clause: its terms, and by position whether each is given up for something else."""

    __slots__ = ("given_up", "is_denied", "terms")

    def __init__(self, terms: list[Term], *, is_later: bool = False) -> None:
        self.terms = terms
        self.is_denied = sum(map(_is_negation, terms)) % 2 == 1
        rejects = is_later and self.is_denied and _rejects_a_name(terms, 0)
        self.given_up = set(range(len(terms))) if rejects else set(_given_up(terms))

    def content(self) -> Iterator[tuple[Term, bool, bool]]:
        """What the clause speaks of, whether it denies it, and whether only to prefer something else."""
        for position, term in enumerate(self.terms):
            if term.is_content:
                is_given_up = position in self.given_up
                yield term, self.is_denied or is_given_up, is_given_up

    def senses(self) -> set[str]:
        """What limits or binds it."""
        return {term.key for term in self.terms if term.kind == SENSE}


class Reading:
    """A whole statement, or those of its clauses that speak of a claim."""

    def __init__(self, text: str, clauses: Iterable[Clause]) -> None:
        self.text = text
        self.clauses = list(clauses)
        self.terms: dict[str, Term] = {}
        self._denied: dict[str, bool | None] = {}
        self._given_up: set[str] = set()
        for clause in self.clauses:
            for term, is_denied, is_given_up in clause.content():
                known = self.terms.setdefault(term.key, term)
                if is_given_up:
                    self._given_up.add(term.key)
                if term.kind in {NAME, NUMBER} and known.kind not in {NAME, NUMBER}:
                    self.terms[term.key] = term
                same = self._denied.setdefault(term.key, is_denied) == is_denied
                self._denied[term.key] = is_denied if same else None

    def is_denied(self, key: str) -> bool | None:
        """Whether a thing is denied; None where it is both affirmed and denied."""
        return self._denied.get(key)

    def weight_of(self, key: str) -> float:
        """How much a thing matters: little where it is only named to be rejected."""
        return self.terms[key].weight * (_GIVEN_UP_WEIGHT if key in self._given_up else 1.0)

    def senses(self) -> set[str]:
        """What limits or binds the statement."""
        return set().union(*(clause.senses() for clause in self.clauses)) if self.clauses else set()

    def about(self, keys: Iterable[str]) -> Reading:
        """The clauses that speak of some of the keys; also a limit (`unless …`) that directly follows one."""
        wanted = set(keys)
        chosen: list[Clause] = []
        was_chosen = False
        for clause in self.clauses:
            found = any(term.key in wanted for term in clause.terms if term.is_content)
            opens_limit = bool(clause.terms) and clause.terms[0].key in _OPENS_A_LIMIT
            was_chosen = found or (was_chosen and opens_limit)
            if was_chosen:
                chosen.append(clause)
        return Reading(self.text, chosen)

    def sequence(self) -> list[Term]:
        """What it speaks of, in order."""
        return [term for clause in self.clauses for term in clause.terms if term.is_content]


def read(text: str, without: frozenset[str] = frozenset()) -> Reading:
    """The reading of a statement, without some words (refs of items)."""
    terms = [term for term in read_terms(text) if term.text.upper() not in without]
    return Reading(text, _clauses(terms))


def _clauses(terms: list[Term]) -> Iterator[Clause]:
    begin, is_later = 0, False
    for position in range(len(terms) + 1):
        part = terms[begin:position]
        is_end = position == len(terms) or terms[position].kind == BREAK
        if not is_end and not (_rejects_a_name(terms, position) and any(term.weight >= 1 for term in part)):
            continue
        if any(term.is_content for term in part):
            yield Clause(part, is_later=is_later)
            is_later = True
        begin = position + 1 if position < len(terms) and terms[position].kind == BREAK else position


def _is_negation(term: Term) -> bool:
    return term.kind == SENSE and term.key == NOT


def _rejects_a_name(terms: list[Term], position: int) -> bool:
    """`use SQLite not DuckDB`: the negation belongs to the name that follows, and begins a clause."""
    is_not = _is_negation(terms[position]) and terms[position].text.lower() == "not"
    return is_not and position + 1 < len(terms) and terms[position + 1].kind in {NAME, NUMBER}


def _given_up(terms: list[Term]) -> Iterator[int]:
    """The positions of what is given up for something else."""
    senses = {term.key: position for position, term in enumerate(terms) if term.kind == SENSE}
    if OVER in senses:
        yield from range(senses[OVER] + 1, len(terms))
    preferred = next((n for n, term in enumerate(terms) if term.text.lower().startswith("prefer")), None)
    if preferred is not None and senses.get(TO, -1) > preferred + 1:
        yield from range(senses[TO] + 1, len(terms))
    if FROM in senses and senses.get(TO, -1) > senses[FROM]:
        yield from range(senses[FROM] + 1, senses[TO])
    replaced = next((position for position, term in enumerate(terms) if term.key in _REPLACE), None)
    if replaced is not None and BY in senses:
        yield from range(replaced + 1, senses[BY]) if senses[BY] > replaced + 1 else range(replaced)


_PAST_WORDS = """
superseded formerly previously obsolete outdated originally abandoned reverted rejected deprecated revoked withdrawn
cancelled canceled lifted retired undone discarded scrapped overruled rescinded
"""
_FORMER_WORDS = """
replaced replaces supersedes instead earlier initially switched changed moved migrated dropped removed old considered
considering history
"""
_SETTLED_WORDS = "resolved answered settled closed decided solved"
_STILL_WORDS = "still open pending yet unresolved undecided unanswered tbd unclear until not awaiting remains"
_PAST, _FORMER, _SETTLED, _STILL = (
    frozenset(words.split()) for words in (_PAST_WORDS, _PAST_WORDS + _FORMER_WORDS, _SETTLED_WORDS, _STILL_WORDS)
)


def _words(text: str) -> set[str]:
    return {word.strip("`'\"()[]{},;:!?*.|~") for word in text.lower().split()}


def is_called_past(text: str, claim: str = "") -> bool:
    """Whether it says that something held once: superseded, reverted, no longer; what the claim itself says aside."""
    own = set(map(meaning, _words(claim)))
    words = {word for word in _words(text) if meaning(word) not in own}
    return (bool(words & _PAST) and not words & {"not", "never"}) or "no longer" in text.lower()


def is_called_former(text: str) -> bool:
    """Whether it may be told as what was so before; of what is known to be superseded little is enough."""
    return bool(_words(text) & _FORMER) or "no longer" in text.lower()


def is_called_open(text: str) -> bool:
    """Whether it leaves a question open."""
    words = _words(text)
    return not words & _SETTLED or bool(words & _STILL)

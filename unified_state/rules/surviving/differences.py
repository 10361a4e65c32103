"""The ways in which a statement can say something else than a claim that it is about, one function each."""

from __future__ import annotations

from unified_state.rules.indexing import is_cjk
from unified_state.rules.surviving.terms import NAME, NUMBER, SENSE, WORD
from unified_state.rules.surviving.word_senses import (
    ALL,
    AT_LEAST,
    AT_MOST,
    CAN,
    CONTRARY,
    EXCEPT,
    FIRST,
    IF,
    KIND,
    LAST,
    MAY,
    MUST,
    ONLY,
    SHOULD,
    SOME,
    TO,
    UNTIL,
    WEAK,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.rules.surviving.readings import Clause, Reading
    from unified_state.rules.surviving.terms import Term

_OPENINGS = {EXCEPT, UNTIL, IF}
_LEAST_PREFIX = 6  # letters by which `Postgres` and `PostgreSQL` are one name


class Matched:
    """A claim beside a statement: which of its terms stand there (by their keys there), which do not, what is extra."""

    def __init__(self, claim: Reading, said: Reading) -> None:
        self.claim, self.said = claim, said
        self.pairs: dict[str, str] = {}
        for key, term in claim.terms.items():
            found = key if key in said.terms else _same_thing(term, said)
            if found is not None:
                self.pairs[key] = found
        there = set(self.pairs.values())
        self.missing = [term for key, term in claim.terms.items() if key not in self.pairs]
        self.extra = [term for key, term in said.terms.items() if key not in there]

    def weight(self, least: float = 0.0) -> float:
        """How much of the claim stands there."""
        return sum(weight for key in self.pairs if (weight := self.claim.weight_of(key)) >= least)

    def coverage(self, without: tuple[Term, ...] = ()) -> float:
        """The part of the claim that stands there, apart from some of its terms."""
        left_out = {term.key for term in without}
        whole = sum(self.claim.weight_of(key) for key in self.claim.terms if key not in left_out)
        return self.weight() / whole if whole else 0.0


def _same_thing(term: Term, said: Reading) -> str | None:
    """The key in a statement of what is the same under another name: the end of a path, the beginning of a name, a
    number without its unit.
    """
    for key, other in said.terms.items():
        if term.kind == NUMBER == other.kind:
            if not other.label and key == term.key.split(" ")[0] == term.text.rstrip("abcdefghijklmnopqrstuvwxyz%"):
                return key
        elif "/" in term.key or "/" in key:
            if f"/{term.key}".endswith(f"/{key}") or f"/{key}".endswith(f"/{term.key}"):
                return key
        elif term.kind == NAME and other.kind == NAME and term.text.isalpha() and other.text.isalpha():
            short, long = sorted((term.text.lower(), other.text.lower()), key=len)
            if len(short) >= _LEAST_PREFIX and long.startswith(short):
                return key
    return None


def is_contrary(matched: Matched) -> bool:
    """Whether a word stands there for its contrary."""
    extra = {term.key for term in matched.extra}
    return any(not CONTRARY.get(term.key, set()).isdisjoint(extra) for term in matched.missing)


def is_turned_round(matched: Matched) -> bool:
    """Whether what the claim affirms is denied, or the reverse; two contraries make it right again, and `only X` is
    `none except X`.
    """
    if _says_only(matched.claim) and _says_only(matched.said):
        return False
    wrong = right = 0.0
    for key, there in matched.pairs.items():
        ours, theirs = matched.claim.is_denied(key), matched.said.is_denied(there)
        if ours is not None and theirs is not None:
            weight = matched.claim.terms[key].weight
            wrong, right = (wrong + weight, right) if ours != theirs else (wrong, right + weight)
    return (wrong > 0 and wrong >= right) != is_contrary(matched)


def _says_only(reading: Reading) -> bool:
    return not {ONLY, EXCEPT}.isdisjoint(reading.senses())


def prefers_another(matched: Matched) -> bool:
    """Whether a name or number that the claim chooses is the one given up there, or the reverse."""
    signs = {
        (matched.claim.is_denied(key), matched.said.is_denied(there))
        for key, there in matched.pairs.items()
        if matched.claim.terms[key].kind in {NAME, NUMBER}
    }
    return (False, True) in signs and (True, False) in signs


def slots(matched: Matched) -> Iterator[tuple[list[Term], list[Term]]]:
    """What stands in the place of what: between two terms that both have, what only one has."""
    ours, theirs = matched.claim.sequence(), matched.said.sequence()
    keys = [matched.pairs.get(term.key, term.key) for term in ours]
    begin = (0, 0)
    for end in [*_common(keys, [term.key for term in theirs]), (len(ours), len(theirs))]:
        lost, put = ours[begin[0] : end[0]], theirs[begin[1] : end[1]]
        if lost and put:
            yield lost, put
        begin = (end[0] + 1, end[1] + 1)


def _common(ours: list[str], theirs: list[str]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence."""
    lengths = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in range(len(ours) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            same = ours[i] == theirs[j]
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if same else max(lengths[i + 1][j], lengths[i][j + 1])
    places, i, j = [], 0, 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            places.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return places


def substituted(matched: Matched) -> list[Term]:
    """The numbers, names and things of one kind in the claim for which the statement has another one."""
    missing, extra = {id(term) for term in matched.missing}, {term.key for term in matched.extra}
    found = {}
    for lost, put in slots(matched):
        new = [term for term in put if term.key in extra]
        for term in lost:
            if id(matched.claim.terms[term.key]) in missing and any(_replaces(other, term) for other in new):
                found[term.key] = term
    for kind in (NUMBER, NAME):
        gone = [term for term in matched.missing if term.kind == kind]
        come = [term for term in matched.extra if term.kind == kind]
        for term in gone:
            alike = [other for other in come if other.label == term.label or other.text[:1] == term.text[:1]]
            if (len(gone) == len(come) == 1 and kind == NAME) or (kind == NUMBER and alike):
                found[term.key] = term
    kinds: set[int] = set().union(*map(_kinds, matched.extra))
    found.update({term.key: term for term in matched.missing if kinds & _kinds(term)})
    return list(found.values())


def _kinds(term: Term) -> set[int]:
    """The kinds of things that a word is one of."""
    word = term.text.lower()
    return KIND.get(word) or KIND.get(word.removesuffix("s")) or set()


def _replaces(other: Term, term: Term) -> bool:
    """Whether one thing in the place of another makes it a different statement."""
    if term.kind == NUMBER or other.kind == NUMBER:
        return term.kind == other.kind
    return term.kind == NAME


def reworded(matched: Matched) -> list[tuple[Term, Term]]:
    """The words that stand in each other's place, where nothing else differs in that place."""
    missing, extra = {term.key for term in matched.missing}, {term.key for term in matched.extra}
    return [
        (lost[0], put[0])
        for lost, put in slots(matched)
        if len(lost) == len(put) == 1
        and lost[0].key in missing
        and put[0].key in extra
        and lost[0].kind == put[0].kind == WORD
        and not is_cjk(lost[0].text[0])
        and lost[0].key not in WEAK
        and put[0].key not in WEAK
    ]


def is_bound_otherwise(matched: Matched) -> bool:
    """Whether `must` became `may` or `should`, or the reverse; a decision that is only considered is none."""
    ours, theirs = matched.claim.senses(), matched.said.senses()
    if MAY in theirs and MUST not in theirs and MAY not in ours:
        return True
    if MUST in ours and {SHOULD, CAN} & theirs and MUST not in theirs:
        return True
    return bool({MAY, SHOULD} & ours) and MUST in theirs and MUST not in ours


def is_limited_otherwise(matched: Matched) -> bool:
    """Whether it holds for more or less: `only`, `except`, `until`, `at least` and the like, lost, added or swapped."""
    ours, theirs = matched.claim.senses(), matched.said.senses()
    swaps = ((AT_LEAST, AT_MOST), (AT_MOST, AT_LEAST), (ALL, SOME), (SOME, ALL), (ALL, ONLY), (ONLY, ALL))
    if any(one in ours - theirs and other in theirs - ours for one, other in swaps):
        return True
    if theirs & _OPENINGS and not ours & {*_OPENINGS, ONLY}:
        return True
    if ONLY in ours and not {ONLY, AT_MOST, EXCEPT, MUST} & theirs and not matched.missing and not matched.extra:
        return True
    return bool(_OPENINGS & ours) and not {*_OPENINGS, ONLY} & theirs and bool(lost_limit(matched))


def lost_limit(matched: Matched) -> tuple[Term, ...]:
    """What the claim says behind `unless`, `until`, `if`, where all of it is gone."""
    missing = {term.key for term in matched.missing}
    behind: list[Term] = []
    for clause in matched.claim.clauses:
        opened = next((n for n, term in enumerate(clause.terms) if term.kind == SENSE and term.key in _OPENINGS), None)
        if opened is not None:
            behind += [term for term in clause.terms[opened:] if term.is_content]
    return tuple(behind) if behind and all(term.key in missing for term in behind) else ()


def is_in_other_order(matched: Matched) -> bool:
    """Whether what comes first in the claim comes last there."""
    for ours in map(_sides, matched.claim.clauses):
        for theirs in map(_sides, matched.said.clauses):
            if ours and theirs:
                first = {matched.pairs.get(key) for key in ours[0]} - {None}
                last = {matched.pairs.get(key) for key in ours[1]} - {None}
                if first & theirs[1] - theirs[0] and last & theirs[0] - theirs[1]:
                    return True
    return _is_renamed_back(matched) or _is_permuted(matched)


def _is_renamed_back(matched: Matched) -> bool:
    """Whether two names have changed sides: `rename A to B`, `rename B to A`."""
    ours, theirs = _ends(matched.claim), _ends(matched.said)
    first, last = ({matched.pairs.get(key) for key in keys} - {None} for keys in ours)
    return bool(first & theirs[1] - theirs[0]) and bool(last & theirs[0] - theirs[1])


def _ends(reading: Reading) -> tuple[set[str], set[str]]:
    """The names and numbers before and behind the `to` of a clause that has one."""
    for clause in reading.clauses:
        link = next((n for n, term in enumerate(clause.terms) if term.kind == SENSE and term.key == TO), None)
        if link is not None:
            sides = clause.terms[:link], clause.terms[link:]
            before, behind = ({term.key for term in side if term.kind in {NAME, NUMBER}} for side in sides)
            return before, behind
    return set(), set()


def _sides(clause: Clause) -> tuple[set[str], set[str]] | None:
    """What comes before and what after, where a clause says so."""
    link = next((n for n, term in enumerate(clause.terms) if term.kind == SENSE and term.key in {FIRST, LAST}), None)
    if link is None:
        return None
    left = {term.key for term in clause.terms[:link] if term.is_content}
    right = {term.key for term in clause.terms[link:] if term.is_content}
    return (left, right) if clause.terms[link].key == FIRST else (right, left)


def _is_permuted(matched: Matched) -> bool:
    """Whether two things have changed places and nothing else differs: the client calls the server."""
    ours = [term for clause in matched.claim.clauses for term in clause.terms]
    theirs = [term for clause in matched.said.clauses for term in clause.terms]
    if len(ours) != len(theirs) or len(matched.claim.clauses) != len(matched.said.clauses):
        return False
    moved = [n for n, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one.key != other.key]
    if len(moved) != 2 or sorted(term.key for term in ours) != sorted(term.key for term in theirs):  # noqa: PLR2004
        return False
    return any(term.is_content for term in ours[moved[0] + 1 : moved[1]])

"""The ways in which a statement can say something else than a claim that it is about, one function each."""

from __future__ import annotations

from unified_state.capture.rules.matched_terms import Matched, slots
from unified_state.capture.rules.terms import NAME, NUMBER, SENSE, WORD
from unified_state.capture.rules.word_meanings import CONTRARY, KIND, WEAK, meaning
from unified_state.capture.rules.word_senses import (
    ALL,
    AT_LEAST,
    AT_MOST,
    BY,
    CAN,
    EXCEPT,
    FIRST,
    IF,
    LAST,
    MAY,
    MUST,
    ONLY,
    SHOULD,
    SOME,
    TO,
    UNTIL,
)
from unified_state.lib.text import is_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.capture.rules.read_statement import Clause, Reading
    from unified_state.capture.rules.terms import Term


_FIRST_IDEOGRAPH = "\u3100"  # behind the Japanese syllables
_PARTICLES = frozenset("为是的了在和与")
_MOST_EXCHANGED = 4
_OPENINGS = {EXCEPT, UNTIL, IF}


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
    return term.kind == other.kind if NUMBER in {term.kind, other.kind} else term.kind == NAME


def reworded(matched: Matched) -> list[tuple[Term, Term]]:
    """The words that stand in each other's place, where nothing else differs in that place."""
    missing, extra = {term.key for term in matched.missing}, {term.key for term in matched.extra}
    return [
        (lost[0], put[0])
        for lost, put in slots(matched)
        if len(lost) == len(put) == 1
        and lost[0].key in missing - WEAK
        and put[0].key in extra - WEAK
        and lost[0].kind == WORD
        and put[0].kind in {WORD, NAME}
        and not is_cjk(lost[0].text[0])
    ]


def is_exchanged(matched: Matched) -> bool:
    """Whether a few signs of a text without spaces were exchanged in its middle, and all round them is the same."""
    ours, theirs = (list(filter(str.isalnum, reading.text)) for reading in (matched.claim, matched.said))
    if not any(map(is_cjk, ours)):
        return False
    begin = next((n for n in range(len(theirs)) if theirs[n : n + 2] == ours[:2]), len(theirs))
    theirs = theirs[begin:]
    same = next((n for n, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), 0)
    pairs = zip(reversed(ours[same:]), reversed(theirs[same:]), strict=False)
    behind = next((n for n, (one, other) in enumerate(pairs) if one != other), 0)
    lost, put = ours[same : len(ours) - behind], theirs[same : len(theirs) - behind]
    is_telling = any(is_cjk(sign) and sign >= _FIRST_IDEOGRAPH for sign in lost) and not {*lost, *put} & _PARTICLES
    return is_telling and len(lost) <= _MOST_EXCHANGED >= len(put) > 0 and min(same, behind) > 1


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
    ours, theirs = [term.key for term in matched.claim.sequence()], [term.key for term in matched.said.sequence()]
    words, said = (_meanings(reading.text) for reading in (matched.claim, matched.said))
    if ours == theirs or sorted(ours) != sorted(theirs) or BY in matched.claim.senses() ^ matched.said.senses():
        return False
    if any(said.count(word) < words.count(word) for word in words):
        return False  # `images are resized on the client`, `the client resizes images`
    if meaning("then") in words:
        return True
    return any(
        ours[place + 1 :] + ours[place : place + 1] + ours[:place] == theirs for place in range(1, len(ours) - 1)
    )


def _meanings(text: str) -> list[str]:
    return [meaning(word.strip(".,;:!?()*`\"'")) for word in text.lower().split()]

"""Compare a claim with a statement of a summary. The verdict is kept, distorted or missing.

Precision has priority. A difference counts only if the statement is certainly about the claim. If in doubt the claim is
missing, and the next session start repeats it, which does no harm.
"""

from __future__ import annotations

from unified_state.capture.rules.read_statement import NAME, NUMBER, WORD
from unified_state.capture.rules.word_meanings import (
    ALL,
    AT_LEAST,
    AT_MOST,
    CAN,
    LIMIT,
    MAY,
    MUST,
    NOT,
    ONLY,
    SHOULD,
    SOME,
    VERBS,
    WEAK,
    is_contrary,
    meaning,
)
from unified_state.lib.text import is_cjk
from unified_state.model.known import DISTORTED, KEPT, MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.capture.rules.read_statement import Reading, Term

UNNAMED, BESIDE, LED = 0, 1, 2  # statement without the item's ref, containing it, beginning with it
# Each tuple has one limit for each of these. A difference counts if a statement shares this part and weight of the
# claim.
_ABOUT, _LEAST_WEIGHT = (0.75, 0.5, 0.01), (2.0, 1.0, 0.5)
_LEAST_REWORDED = (2.0, 2.0, 1.0)  # least shared weight if one word is exchanged
_MOST_EXTRA = (0, 2, 6)  # most additional words in a statement that denies what the claim affirms
_KEEPS = (0.8, 0.75, 0.6)  # least shared part of a kept claim
# Pairs of senses that contradict each other, one in the claim and one in the statement.
_EXCHANGES = {
    frozenset(pair)
    for pair in ((AT_LEAST, AT_MOST), (ALL, SOME), (ALL, ONLY), (MUST, SHOULD), (MUST, CAN), (MUST, MAY))
}


class _Match:
    """A claim matched with a statement: shared terms with their keys in the statement, missing terms, additional
    terms.
    """

    def __init__(self, claim: Reading, said: Reading) -> None:
        self.claim, self.said = claim, said
        found = {key: _same_thing(term, said) for key, term in claim.terms.items()}
        self.pairs = {key: there for key, there in found.items() if there is not None}
        there = set(self.pairs.values())
        self.missing = [term for key, term in claim.terms.items() if key not in self.pairs]
        self.extra = [term for key, term in said.terms.items() if key not in there]
        self.weight = sum(claim.terms[key].worth for key in self.pairs)
        self.gone, self.come = claim.senses - said.senses, said.senses - claim.senses

    def coverage(self, without: list[Term]) -> float:
        """Return the weighted part of the claim that the statement contains, not counting some terms."""
        whole = self.weight + sum(term.worth for term in self.missing if term not in without)
        return self.weight / whole if whole else 0.0


def _same_thing(term: Term, said: Reading) -> str | None:
    """Return the key of a term in a statement, or None. A path may match as the end of a longer one."""
    if term.key in said.terms:
        return term.key
    for key in said.terms:
        short, long = sorted((key, term.key), key=len)
        if "/" in long and long.endswith(f"/{short}"):
            return key
    return None


def compare(claim: Reading, statement: Reading, how: int) -> str:
    """Return the verdict on a claim by one statement. `how` says how the statement is connected to the item."""
    keys = set(_Match(claim, statement).pairs.values())
    match = _Match(claim, statement.about(keys) if keys else statement)
    if not keys and how != LED:
        return MISSING
    if _differs(match, how):
        return DISTORTED
    if how == LED and _is_foreign(match):
        return _by_names(match)
    doubts = (
        match.coverage([]) < _KEEPS[how],
        any(term.kind in {NAME, NUMBER} and term.worth >= 1 for term in match.missing),
        _is_exchanged(match),
        _is_turned_round(match),
        _is_limited_otherwise(match),
        how == UNNAMED and (match.weight < _LEAST_WEIGHT[how] or _says_too_much(match)),
    )
    return MISSING if any(doubts) else KEPT


def _differs(match: _Match, how: int) -> bool:
    """Return whether the statement is about the claim and contradicts it."""
    extra = sum(term.key not in WEAK for term in match.extra)
    others, turned = _substituted(match, how), _is_turned_round(match)
    is_alone = extra <= _MOST_EXTRA[how] + len(others)
    if others and not turned and _is_about(match, how, others) and (how != UNNAMED or extra <= len(others) + 1):
        return True
    if _is_limited_otherwise(match) and _is_about(match, how, _lost_limit(match)):
        return True
    if _is_about(match, how, []) and (_is_in_other_order(match) or (is_alone and turned)):
        return True
    return _is_exchanged(match) and extra <= (1 if how == UNNAMED else 3) and match.weight >= _LEAST_REWORDED[how]


def _is_about(match: _Match, how: int, without: list[Term]) -> bool:
    """Return whether enough of the claim is in the statement, not counting some terms. A short claim has to match
    exactly.
    """
    coverage = match.coverage(without)
    is_same_otherwise = coverage == 1 and len(match.extra) <= len(without) <= 1
    least = min(1.0, _LEAST_WEIGHT[how]) if is_same_otherwise else _LEAST_WEIGHT[how]
    return coverage >= _ABOUT[how] and match.weight >= least


def _substituted(match: _Match, how: int) -> list[Term]:
    """Return the numbers and names of the claim that the statement replaces by others."""
    come = {term.kind for term in match.extra if term.key not in WEAK}
    for_names = {NAME} if how == UNNAMED else {NAME, WORD}
    return [term for term in match.missing if come & {NUMBER: {NUMBER}, NAME: for_names, WORD: frozenset()}[term.kind]]


def _is_exchanged(match: _Match) -> bool:
    """Return whether one word replaces another. A verb at the beginning does not count, because many verbs mean the
    same.
    """
    lost, come = ([term for term in terms if term.key not in WEAK] for terms in (match.missing, match.extra))
    if not lost or not come or NUMBER in {lost[0].kind, come[0].kind}:
        return False
    most = 1 + 2 * is_cjk(lost[0].key[0])  # characters of a pair
    are_alike = len({is_cjk(term.key[0]) for term in (*match.missing, *come)}) == 1
    if len(come) > most or not are_alike or (most == 1 and len(match.missing) > 1):
        return False
    first = match.claim.sequence[0].key
    is_verb = lost[0].key == first and first in VERBS
    return not is_verb and _beside(match.claim.sequence, lost) == _beside(match.said.sequence, come)


def _beside(sequence: list[Term], terms: list[Term]) -> tuple[str | None, str | None]:
    """Return the keys of the terms before and after some terms."""
    keys = [None, *(term.key for term in sequence), None]
    return keys[keys.index(terms[0].key) - 1], keys[keys.index(terms[-1].key) + 1]


def _is_turned_round(match: _Match) -> bool:
    """Return whether the statement denies what the claim affirms, or the reverse.

    A contrary word compensates a negation, and `only X` equals `none except X`.
    """
    if {ONLY, LIMIT} & match.claim.senses and {ONLY, LIMIT} & match.said.senses:
        return False
    wrong = right = 0.0
    for key, there in match.pairs.items():
        ours, theirs, weight = match.claim.denials(key), match.said.denials(there), match.claim.terms[key].weight
        wrong, right = wrong + weight * ours.isdisjoint(theirs), right + weight * (ours == theirs)
    contrary = any(is_contrary(lost.key, come.key) for lost in match.missing for come in match.extra)
    return (wrong > 0 and wrong >= right) != contrary


def _is_limited_otherwise(match: _Match) -> bool:
    """Return whether the statement has a different obligation or scope than the claim."""
    if any(frozenset((ours, theirs)) in _EXCHANGES for ours in match.gone for theirs in match.come):
        return True
    if MAY in match.come and MUST not in match.said.senses:
        return True
    if LIMIT in match.come and ONLY not in match.claim.senses:
        return True
    if ONLY in match.gone and not {AT_MOST, LIMIT, MUST} & match.said.senses and not match.missing and not match.extra:
        return True
    return LIMIT in match.gone and ONLY not in match.said.senses and bool(_lost_limit(match))


def _lost_limit(match: _Match) -> list[Term]:
    """Return the terms of the claim after `unless`, `until` or `if`, if none of them is in the statement."""
    behind: list[Term] = []
    for clause in match.claim.clauses:
        opened = next((at for at, term in enumerate(clause) if term.key == LIMIT), len(clause))
        behind += [term for term in clause[opened:] if term.weight]
    return behind if all(term.key not in match.pairs for term in behind) else []


_PASSIVE = frozenset(map(meaning, ("is", "are", "was", "by")))


def _is_in_other_order(match: _Match) -> bool:
    """Return whether two things are swapped, for example in a preference, a sequence or a call."""
    signs = [(match.claim.sides(key), match.said.sides(there)) for key, there in match.pairs.items()]
    if ({False}, {True}) in signs and ({True}, {False}) in signs:
        return True
    ours, theirs = ([term.key for term in reading.sequence] for reading in (match.claim, match.said))
    if ours == theirs or sorted(ours) != sorted(theirs):
        return False
    words, said = (
        [meaning(word.strip(".,;:!?()*`\"'")) for word in reading.text.lower().split()]
        for reading in (match.claim, match.said)
    )
    if any(said.count(word) < words.count(word) for word in words) or not _PASSIVE.isdisjoint({*said} - {*words}):
        return False  # `images are resized on the client`, `the client resizes images`
    return any(ours[at + 1 :] + ours[at : at + 1] + ours[:at] == theirs for at in range(1, len(ours) - 1))


def _says_too_much(match: _Match) -> bool:
    """Return whether a statement that has the words of a claim is mostly about something else."""
    extra = sum(term.weight for term in match.extra)
    loses = {MUST, ALL, ONLY} & match.claim.senses and not {MUST, ALL, ONLY, NOT} & match.said.senses
    return extra > max(1.0, match.weight / 2) or bool(loses and extra >= 1)


def _is_foreign(match: _Match) -> bool:
    """Return whether exactly one of the two is written in Chinese, Japanese or Korean."""
    ours, theirs = (any(is_cjk(key[0]) for key in reading.terms) for reading in (match.claim, match.said))
    return ours != theirs


def _by_names(match: _Match) -> str:
    """Return the verdict across languages, in which only names and numbers can be compared."""
    ours, theirs = (
        {key for key, term in reading.terms.items() if term.kind in {NAME, NUMBER}}
        for reading in (match.claim, match.said)
    )
    if ours and ours <= theirs:
        return MISSING if NOT in match.gone | match.come else KEPT
    return DISTORTED if ours and len(ours - theirs) == len(theirs - ours) else MISSING

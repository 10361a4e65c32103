"""Compare a claim with a statement of a summary: it is kept, distorted, or missing from it.

Precision comes first. A difference counts only where the statement is surely about the claim. In doubt the claim is
missing, and the next session start tells it again, which does no harm.
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

UNNAMED, BESIDE, LED = 0, 1, 2  # a statement without the item's ref, with it, one that the ref begins
# One limit for each of these three. A difference counts where a statement shares this part and weight of the claim.
_ABOUT, _LEAST_WEIGHT = (0.75, 0.5, 0.01), (2.0, 1.0, 0.5)
_LEAST_REWORDED = (2.0, 2.0, 1.0)  # the weight that it shares where one word is exchanged
_MOST_EXTRA = (0, 2, 6)  # words that it has more where it denies what the claim affirms
_KEEPS = (0.8, 0.75, 0.6)  # the part that it shares where it keeps the claim
# Two senses of which the claim has one and the statement the other.
_EXCHANGES = {
    frozenset(pair)
    for pair in ((AT_LEAST, AT_MOST), (ALL, SOME), (ALL, ONLY), (MUST, SHOULD), (MUST, CAN), (MUST, MAY))
}


class _Match:
    """A claim beside a statement: which of its terms stand there (by their keys there), which do not, what is extra."""

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
        """The part of the claim that stands there, apart from some of its terms."""
        whole = self.weight + sum(term.worth for term in self.missing if term not in without)
        return self.weight / whole if whole else 0.0


def _same_thing(term: Term, said: Reading) -> str | None:
    """The key of a term in a statement, where a path may be only the end of another one."""
    if term.key in said.terms:
        return term.key
    for key in said.terms:
        short, long = sorted((key, term.key), key=len)
        if "/" in long and long.endswith(f"/{short}"):
            return key
    return None


def compare(claim: Reading, statement: Reading, how: int) -> str:
    """The verdict on a claim by one statement; `how` the statement is known to be about it."""
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
    """Whether the statement is about the claim and says something else."""
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
    """Whether enough of the claim stands there, apart from some terms. Of a short claim all of it, and nothing more."""
    coverage = match.coverage(without)
    is_same_otherwise = coverage == 1 and len(match.extra) <= len(without) <= 1
    least = min(1.0, _LEAST_WEIGHT[how]) if is_same_otherwise else _LEAST_WEIGHT[how]
    return coverage >= _ABOUT[how] and match.weight >= least


def _substituted(match: _Match, how: int) -> list[Term]:
    """The numbers and names of the claim for which the statement has others."""
    come = {term.kind for term in match.extra if term.key not in WEAK}
    for_names = {NAME} if how == UNNAMED else {NAME, WORD}
    return [term for term in match.missing if come & {NUMBER: {NUMBER}, NAME: for_names, WORD: frozenset()}[term.kind]]


def _is_exchanged(match: _Match) -> bool:
    """Whether one word stands in the place of another. A verb at the beginning does not count: many mean the same."""
    lost, come = ([term for term in terms if term.key not in WEAK] for terms in (match.missing, match.extra))
    if not lost or not come or NUMBER in {lost[0].kind, come[0].kind}:
        return False
    most = 1 + 2 * is_cjk(lost[0].key[0])  # pairs of characters
    are_alike = len({is_cjk(term.key[0]) for term in (*match.missing, *come)}) == 1
    if len(come) > most or not are_alike or (most == 1 and len(match.missing) > 1):
        return False
    first = match.claim.sequence[0].key
    is_verb = lost[0].key == first and first in VERBS
    return not is_verb and _beside(match.claim.sequence, lost) == _beside(match.said.sequence, come)


def _beside(sequence: list[Term], terms: list[Term]) -> tuple[str | None, str | None]:
    """The keys of what stands before and behind some terms."""
    keys = [None, *(term.key for term in sequence), None]
    return keys[keys.index(terms[0].key) - 1], keys[keys.index(terms[-1].key) + 1]


def _is_turned_round(match: _Match) -> bool:
    """Whether the statement denies what the claim affirms, or the reverse. A contrary word makes up for a negation, and
    `only X` is the same as `none except X`.
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
    """Whether it binds more or less, or holds for more or less."""
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
    """What the claim says behind `unless`, `until`, `if`, where all of it is gone."""
    behind: list[Term] = []
    for clause in match.claim.clauses:
        opened = next((at for at, term in enumerate(clause) if term.key == LIMIT), len(clause))
        behind += [term for term in clause[opened:] if term.weight]
    return behind if all(term.key not in match.pairs for term in behind) else []


_PASSIVE = frozenset(map(meaning, ("is", "are", "was", "by")))


def _is_in_other_order(match: _Match) -> bool:
    """Whether two things have changed places: what is preferred, what comes first, which calls which."""
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
    """Whether a statement has the words of a claim and speaks of something else."""
    extra = sum(term.weight for term in match.extra)
    loses = {MUST, ALL, ONLY} & match.claim.senses and not {MUST, ALL, ONLY, NOT} & match.said.senses
    return extra > max(1.0, match.weight / 2) or bool(loses and extra >= 1)


def _is_foreign(match: _Match) -> bool:
    """Whether one of both is written in Chinese, Japanese or Korean and the other is not."""
    ours, theirs = (any(is_cjk(key[0]) for key in reading.terms) for reading in (match.claim, match.said))
    return ours != theirs


def _by_names(match: _Match) -> str:
    """The verdict across languages, where only names and numbers can be compared."""
    ours, theirs = (
        {key for key, term in reading.terms.items() if term.kind in {NAME, NUMBER}}
        for reading in (match.claim, match.said)
    )
    if ours and ours <= theirs:
        return MISSING if NOT in match.gone | match.come else KEPT
    return DISTORTED if ours and len(ours - theirs) == len(theirs - ours) else MISSING

"""Whether a statement of a summary says what a claim says: it keeps it, distorts it, or is about something else.

Precision first: a difference counts only where the statement is surely about the claim, and where that is not sure the
claim is missing, so that it is told again, which harms nobody.
"""

from __future__ import annotations

from unified_state.capture.rules.differences import (
    is_bound_otherwise,
    is_exchanged,
    is_in_other_order,
    is_limited_otherwise,
    is_turned_round,
    lost_limit,
    prefers_another,
    reworded,
    substituted,
)
from unified_state.capture.rules.matched_terms import Matched
from unified_state.capture.rules.terms import NAME, NUMBER, SENSE
from unified_state.capture.rules.word_meanings import VERBS, WEAK
from unified_state.capture.rules.word_senses import ALL, MUST, NOT, ONLY
from unified_state.lib.text import is_cjk
from unified_state.model.known import DISTORTED, KEPT, MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.capture.rules.read_statement import Reading
    from unified_state.capture.rules.terms import Term


UNNAMED, BESIDE, LED = 0, 1, 2  # a statement without the item's ref, with it, one that the ref begins
# What of the claim must stand in a statement, apart from what differs, for it to be about the claim.
_ABOUT = {UNNAMED: 0.75, BESIDE: 0.5, LED: 0.01}
_LEAST_WEIGHT = {UNNAMED: 2.0, BESIDE: 1.0, LED: 0.5}
_LEAST_REWORDED = {UNNAMED: 2.0, BESIDE: 2.0, LED: 1.0}
_KEEPS = {UNNAMED: 0.8, BESIDE: 0.75, LED: 0.6}
_MOST_EXTRA = {UNNAMED: 0, BESIDE: 2, LED: 6}  # words more, where a statement is turned round or bound otherwise


def compare(claim: Reading, statement: Reading, how: int) -> str:
    """The verdict on a claim by one statement; `how` the statement is known to be about it."""
    keys = set(Matched(claim, statement).pairs.values())
    said = statement.about(keys) if keys else statement
    matched = Matched(claim, said)
    if not matched.pairs and how != LED:
        return MISSING
    if _differs(matched, how):
        return DISTORTED
    if how == LED and _is_foreign(matched):
        return _by_names(matched)
    lost = [term for term in matched.missing if term.kind in {NAME, NUMBER} and claim.weight_of(term.key) >= 1]
    is_whole = matched.coverage() >= _KEEPS[how] and not lost and not reworded(matched)
    if how == UNNAMED and (matched.weight() < _LEAST_WEIGHT[how] or _says_too_much(matched)):
        return MISSING
    return KEPT if is_whole and _says_the_same(matched) else MISSING


def _says_the_same(matched: Matched) -> bool:
    """Whether nothing speaks against it, sure or not."""
    doubts = (_is_doubtful, is_turned_round, is_bound_otherwise, is_limited_otherwise, prefers_another)
    return not any(doubts_it(matched) for doubts_it in doubts)


def _is_foreign(matched: Matched) -> bool:
    """Whether one of both is written in Chinese, Japanese or Korean and the other is not."""
    ours, theirs = (
        any(is_cjk(term.text[0]) for term in reading.terms.values()) for reading in (matched.claim, matched.said)
    )
    return ours != theirs


def _by_names(matched: Matched) -> str:
    """The verdict across languages, where only names and numbers can be compared."""
    ours, theirs = (
        {term.key for term in terms if term.kind in {NAME, NUMBER}}
        for terms in (matched.claim.terms.values(), matched.said.terms.values())
    )
    if ours and ours <= theirs:
        return MISSING if NOT in matched.claim.senses() ^ matched.said.senses() else KEPT
    return DISTORTED if ours and len(ours - theirs) == len(theirs - ours) else MISSING


def _differs(matched: Matched, how: int) -> bool:
    """Whether the statement is about the claim and says something else."""
    extra = sum(term.key not in WEAK for term in matched.extra)
    others = tuple(substituted(matched))
    turned = is_turned_round(matched)
    is_about = _is_about(matched, how)
    is_alone = extra <= _MOST_EXTRA[how] + len(others)
    return (
        (
            bool(others)
            and not turned
            and _is_about(matched, how, others)
            and (how != UNNAMED or extra <= len(others) + 1)
        )
        or (is_about and (prefers_another(matched) or is_in_other_order(matched)))
        or (is_limited_otherwise(matched) and _is_about(matched, how, lost_limit(matched)))
        or (is_about and is_alone and (turned or is_bound_otherwise(matched)) and not _is_doubtful(matched))
        or _is_reworded(matched, how)
    )


def _is_about(matched: Matched, how: int, without: tuple[Term, ...] = ()) -> bool:
    """Whether enough of the claim stands there, apart from what differs; of a short one all of it, and nothing more."""
    coverage = matched.coverage(without)
    is_same_otherwise = coverage == 1 and len(matched.extra) <= len(without) <= 1
    least = min(1.0, _LEAST_WEIGHT[how]) if is_same_otherwise else _LEAST_WEIGHT[how]
    return coverage >= _ABOUT[how] and matched.weight() >= least


def _says_too_much(matched: Matched) -> bool:
    """Whether a statement has the words of a claim and speaks of something else."""
    extra = sum(term.weight for term in matched.extra)
    binds = {MUST, ALL, ONLY}
    loses = bool(binds & matched.claim.senses()) and not {*binds, NOT} & matched.said.senses()
    return extra > max(1.0, matched.weight() / 2) or (loses and extra >= 1)


def _is_reworded(matched: Matched, how: int) -> bool:
    """Whether one word was exchanged for an unknown one in a statement that is the same otherwise. The first word is
    mostly a verb, for which there are many.
    """
    pairs = reworded(matched)
    if len(pairs) != 1 or len(matched.missing) != 1:
        return how == LED and is_exchanged(matched)
    (lost, _), first = pairs[0], matched.claim.sequence()[0]
    is_verb = lost is first and lost.key in VERBS
    most_extra = 1 if how == UNNAMED else 2
    return not is_verb and len(matched.extra) <= most_extra and matched.weight() >= _LEAST_REWORDED[how]


def _is_doubtful(matched: Matched) -> bool:
    """Whether a negation may belong to what the statement says beside the claim."""
    extra = {term.key for term in matched.extra if term.weight >= 1}
    for clause in matched.said.clauses:
        denying = False
        for term in clause.terms:
            if term.kind == SENSE:
                denying = denying or term.key == NOT
            elif term.is_content:
                if denying and term.key in extra:
                    return True
                denying = False
    return False

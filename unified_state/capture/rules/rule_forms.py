"""English forms of sentences that bind the work: what people write for a standing rule, and for a decision.

A sentence is read clause by clause. A form is a beginning of a clause, or words inside it. Words that limit a request
to this moment ("yet", "for now") outweigh all forms.
"""

from __future__ import annotations

from unified_state.capture.rules.general_forms import has_happened, states_generally
from unified_state.capture.rules.rule_words import (
    ACTS,
    ANSWERING,
    ARTICLES,
    AT_HAND,
    BEGINNINGS,
    CHOOSING,
    CHOSEN,
    DOING,
    ENDS,
    FOR_A_KIND,
    FOR_NOW,
    INSIDE,
    LASTING,
    LIMITS,
    MANNERS,
    NO_CUSTOMS,
    NO_NOUNS,
    NO_PROHIBITIONS,
    NOT_CHOOSING,
    ONCE,
    ONLY_VERBS,
    OPENERS,
    PEOPLE,
    PURPOSES,
    QUESTIONS,
    REQUESTS,
    TASK,
    TOPICS,
    UNDECIDED,
    WISHES,
)

RULE, DECIDED = "rule", "decided"

_FEW = 5  # words of a clause such as "so no global variables"


def form_of(sentence: str) -> str:
    """Return what a lower-case sentence is: RULE, DECIDED or ""."""
    if sentence.startswith((*ANSWERING, '"')) or " find out" in sentence:
        return ""
    asks = sentence.endswith("?")
    bare = without_openers(sentence.rstrip(" .!?:;)"))
    if not bare or (bare.startswith(QUESTIONS) and not bare.startswith("is forbidden")):
        return ""
    clauses = _clauses(bare)[: 1 if sentence.startswith(REQUESTS) else None]
    is_rule = any(_is_rule(clause, is_whole=number == 0) for number, clause in enumerate(clauses))
    is_rule = is_rule or (sentence.startswith(REQUESTS) and bare.startswith("not "))
    if is_rule and not is_for_now(sentence):
        return "" if asks and not sentence.startswith(("could you", "can you", "would you", "please")) else RULE
    if asks or sentence.startswith(REQUESTS) or any(mark in sentence for mark in ONCE):
        return ""
    return DECIDED if any(map(_is_decided, clauses)) or _says_because(bare) else ""


def is_for_now(sentence: str) -> bool:
    """Return whether a lower-case sentence limits what it says to this moment."""
    followings = (sentence.partition(mark)[2].split()[:1] for mark in (" for this ", " in this "))
    is_momentary = any(following and following[0].strip(",.!") not in LASTING for following in followings)
    return is_momentary or any(mark in sentence for mark in FOR_NOW)


def is_for_a_task(sentence: str) -> bool:
    """Return whether a lower-case sentence holds only for the work in hand."""
    return any(mark in sentence for mark in TASK)


_OPENINGS = tuple(word[:-1] + end for word in OPENERS for end in (word[-1], ",", ":"))
_JOINTS = (" - ", " and ", " so ", " but ", " because ", " please ")


def without_openers(clause: str) -> str:
    """Return a clause without the words before it that do not change what it binds."""
    clause = clause.lstrip(" ,:-–—*•>\"'")
    while clause.startswith(_OPENINGS):  # most clauses have none
        opener = next(word for word in OPENERS if clause.startswith((word, f"{word[:-1]},", f"{word[:-1]}:")))
        clause = clause[len(opener) :].lstrip(" ,:-–—")
    return clause


def _clauses(sentence: str) -> list[str]:
    """Return the sentence, and each part of it after a sign that separates clauses."""
    clauses, begin = [sentence], 0
    for at, sign in enumerate(sentence):
        if sign in ",:;–—(" or (sign == " " and sentence.startswith(_JOINTS, at)):
            begin = at + 1
            rest = without_openers(sentence[begin:])
            if rest:
                clauses.append(rest)
    return clauses


def _is_rule(clause: str, *, is_whole: bool) -> bool:
    words = clause.split()
    first, second = words[0].strip(",:"), words[1].strip(",.:") if len(words) > 1 else ""
    if clause.startswith(("we don't want ", "we do not want ")):
        return True
    if first in {"don't", "dont", "never"} or clause.startswith(("do not ", "not to ", "we don't ", "we do not ")):
        if first == "never":
            return second not in {"mind", "forget", ""}
        return _prohibits(words[clause.startswith("we ") + 1 + (second in {"not", "to"} or "do not" in clause[:9]) :])
    if clause.startswith(BEGINNINGS):
        return True
    if not is_whole:
        is_no_more = first == "no" and len(words) <= _FEW and _excludes(clause, second)
        is_kept = first == "keep" and second not in ARTICLES and " out of " in clause
        return is_no_more or is_kept or _is_conditional(clause) or (first == "use" and _uses_instead(clause, second))
    return (
        (first == "no" and _excludes(clause, second))
        or (
            first == "only"
            and (second in ONLY_VERBS or " when " in clause or (second == "the" and len(words) <= _FEW - 2))
        )
        or (first == "stop" and second.endswith("ing") and second not in {"thing", "going"})
        or (first == "use" and _uses(clause, second))
        or (first in {"keep", "leave"} and _keeps(clause, second))
        or clause.startswith(TOPICS)
        or _says_inside(clause)
        or _is_conditional(clause)
        or _is_done_by_rule(clause, words)
        or _is_custom(words)
        or (first in {"for", "one"} and any(mark in clause for mark in FOR_A_KIND))
        or states_generally(clause, words)
    )


def _is_custom(words: list[str]) -> bool:
    """Return whether "we …" tells a custom, and not what somebody saw, has or did."""
    verb = words[1] if words[0] == "we" and len(words) > _FEW - 3 else ""
    return bool(verb) and verb not in NO_CUSTOMS and not verb.endswith(("ed", "'re", "'ve", "'d"))


def _is_done_by_rule(clause: str, words: list[str]) -> bool:
    """Return whether a clause asks for an act each time, or for a manner: "Document every flag", "Pick boring tech"."""
    act, then = words[0].removesuffix("ed"), words[1] if len(words) > 1 else ""
    if act in ACTS and any(mark in clause for mark in (" each ", " every ", " always ", " never ")):
        return True
    return act in MANNERS and then not in ARTICLES


def _prohibits(words: list[str]) -> bool:
    """Return whether the words after "don't" or "never" forbid something that is not only at hand."""
    if not words or words[0].strip(",.") in NO_PROHIBITIONS:
        return False
    if "here" in {word.strip(".,") for word in words} and words[1] in {"a", "an", "the"}:
        return False
    is_at_hand = len(words) > 1 and words[1].strip(",.!") in AT_HAND
    return not is_at_hand or any(word in words for word in ("again", "without", "unless", "ever", "anymore"))


def _excludes(clause: str, second: str) -> bool:
    """Return whether "no …" excludes something, and does not tell that there was none."""
    told = (" was ", " is ", " were ", " are ", " should ", " found", " shown", " yet", " or follow")
    return second not in NO_NOUNS and not any(mark in clause for mark in told)


def _uses_instead(clause: str, used: str) -> bool:
    """Return whether "use …" names a kind of thing in place of another, and not a thing at hand."""
    return used not in ARTICLES and _contrasts(clause)


def _uses(clause: str, used: str) -> bool:
    is_kind = used not in ARTICLES and not used.isdigit()
    has_purpose = used.endswith("s") or any(mark in clause for mark in PURPOSES)
    return _uses_instead(clause, used) or (is_kind and has_purpose) or clause.endswith(ENDS)


def _contrasts(clause: str) -> bool:
    return any(
        mark in clause for mark in (", not ", " instead of ", " rather than ", " never ", ", never", " and not ")
    )


def _keeps(clause: str, kept: str) -> bool:
    return kept not in {"out", "going", "it", "that", "this", "trying", "doing", "looking", "me", "working", "up"} and (
        kept not in {"a", "an"} or any(mark in clause for mark in LIMITS)
    )


def _says_inside(clause: str) -> bool:
    said = f" {clause} ".replace(" or not ", " or ")  # a choice, not a rule
    if clause.startswith(PEOPLE) and not any(mark in said for mark in (" without ", " from now on", " you must ")):
        return any(mark in said for mark in (" forbidden ", " not allowed ")) or _wishes(clause)
    if any(mark in said for mark in INSIDE) and not has_happened(said):
        return True
    if clause.startswith(("let's ", "lets ", "we'll ")):
        return False
    return clause.endswith(ENDS) or (
        (" lines" in said or " characters" in said or " kb" in said) and any(mark in said for mark in LIMITS)
    )


def _wishes(clause: str) -> bool:
    """Return whether "I want …" tells how things are to be in general."""
    is_wish = clause.startswith(WISHES)
    if clause.startswith(("i need ", "i expect ", "we expect ")):
        return not clause.startswith("i need to ")
    marks = (" every ", " all ", " no ", " never ", " always ", " before ", " only ", " not ", " kept ", " below ")
    return is_wish and any(mark in clause for mark in marks)


def _is_conditional(clause: str) -> bool:
    """Return whether a clause tells what to do each time: "When adding a setting, document it"."""
    head, comma, rest = clause.partition(",")
    if not comma or not rest.strip():
        return False
    word, act = [*head.split(), ""][1], rest.split()[:1]
    if not act or (act[0] not in ACTS and act[0] not in {"always", "never", "don't", "do", "only", "ensure", "make"}):
        rest = without_openers(rest)
        return bool(rest) and states_generally(rest, rest.split()) and word.endswith("ing")
    if head.startswith(("when ", "before ", "after ", "if ")):
        return word in {"you", "you're", "in", "each", "every", "a", "we"} or word.endswith("ing")
    return head.startswith(("whenever ", "every time you", "each time you", "for "))


def _is_decided(clause: str) -> bool:
    words = clause.split()
    if clause.startswith(("we'll ", "we will ", "we shall ")) and len(words) > _FEW - 2:
        return words[1 + clause.startswith(("we will ", "we shall "))] not in UNDECIDED
    if clause.startswith(("we're ", "we are ")) and words[1].endswith("ing"):
        return words[1] not in DOING
    for beginning in CHOOSING if clause.startswith(CHOOSING) else ():
        if clause.startswith(beginning):
            rest = clause[len(beginning) :].split()
            is_act = bool(rest) and beginning in {"let's do ", "lets do "} and rest[0].strip(",") in NOT_CHOOSING
            return not is_act or rest[-1] == "then"
    if clause.endswith(CHOSEN[:1]) and len(words) <= _FEW and not clause.startswith(("currently", "so ", "as ")):
        return True
    return any(mark in f" {clause}" for mark in CHOSEN[1:])


def _says_because(clause: str) -> bool:
    """Return whether a clause gives a property and its reason: "The delimiter is a semicolon because …"."""
    head, because, _ = clause.partition(" because ")
    return bool(because) and head.startswith(("the ", "our ")) and (" is " in head or " are " in head)

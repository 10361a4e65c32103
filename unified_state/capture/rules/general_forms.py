"""Statements of how things are to be in general: "Tests must …", "Dates are in UTC", "Each fix comes with a test"."""

from __future__ import annotations

from unified_state.capture.rules.rule_words import (
    ACTS,
    BY_RULE,
    FAILING,
    MODALS,
    NO_PLURALS,
    NOT_NAMED,
    PEOPLE,
    PLURAL_VERBS,
    STATES,
    WHOLE,
)

_SHORT = 10  # words of a clause that names things
_FEW = 5  # words of a short statement
_MOST_OF_SUBJECT = 6  # words before the verb
_NOW = (" now", " still ", " currently", " again", " since ", " just ", " already", " yesterday", " anymore")
_STEADY = (" is in ", " is by ", " goes through ", " go through ", " is forbidden", " is half", " belongs to ")
_DETERMINED = (
    "the ", "this ", "that ", "these ", "those ", "my ", "two ", "some ", "many ", "most ", "people ", "users ",
)  # fmt: skip
_FOR_A_REASON = (
    ", don't ", ", so don't ", " so don't ", ", so please don't ", ", leave it", ", so leave it", ", respect ",
)  # fmt: skip


def states_generally(clause: str, words: list[str]) -> bool:
    """Return whether a clause in lower case states how things are to be in general."""
    said = f" {clause} "
    if clause.startswith(PEOPLE) or any(mark in said for mark in _NOW):
        return False
    return (
        _says_must(clause, said, words)
        or _says_of_all(clause, said, words)
        or _says_always(words, said)
        or _is_named_contrast(clause, words)
        or _says_why_not(said)
        or _is_plural_rule(clause, words)
        or (any(mark in said for mark in _STEADY) and not clause.startswith(_DETERMINED))
    )


def _says_must(clause: str, said: str, words: list[str]) -> bool:
    """Return whether the subject of "must" or "should" is a kind of thing, not one that misbehaves."""
    mark = next((mark for mark in MODALS if mark in said), "")
    if not mark or " should have " in said:
        return False
    subject = said.partition(mark)[0].split()
    if not subject or len(subject) > _MOST_OF_SUBJECT or "but" in words:
        return False
    if mark == " must " or clause.startswith(WHOLE) or words[0] == "you":
        return subject[0] not in ACTS and not has_happened(said)
    if clause.startswith(("a ", "an ")) and len(subject) > 1:
        return True
    is_plural = subject[-1].endswith("s") and subject[-1] not in NO_PLURALS and not clause.startswith(_DETERMINED)
    return is_plural or (len(subject) == 1 and subject[0] not in _NO_SUBJECTS and subject[0] not in NO_PLURALS)


_NO_SUBJECTS = {"we", "i", "they", "what", "which", "who", "where", "so", "and", "then", "claude"}


def has_happened(said: str) -> bool:
    """Return whether a text guesses at what happened: "The customer must have changed it"."""
    after = said.partition(" must have ")[2].split()
    return bool(after) and (after[0].endswith("ed") or after[0] in {"been", "gone", "done", "lost", "broken"})


def _says_of_all(clause: str, said: str, words: list[str]) -> bool:
    if not clause.startswith(WHOLE) or len(words) < _FEW - 2:
        return False
    if clause.startswith(("every ", "each ")) and words[1] not in {"time", "now"}:
        return True
    if any(mark in said for mark in (" needs ", " comes with ", " come with ", " get ", " gets ", " goes ")):
        return True
    is_short = len(words) <= _FEW + 1 and not words[-1].endswith(("ed", "wn"))
    return is_short and any(mark in said for mark in (" are ", " in ", " need "))


def _says_always(words: list[str], said: str) -> bool:
    marks = (" are always ", " is always ", " are never ", " is never ", " stays ", " stay ", " is ever ", " for ever ")
    if words[0] in ACTS:
        return False
    if any(mark in said for mark in marks):
        return not said.startswith((" the test", " the build"))
    if "always" in words[1:-1]:
        at = words.index("always", 1)
        return words[at - 1].endswith("s") and words[at + 1] not in FAILING
    return False


def _is_named_contrast(clause: str, words: list[str]) -> bool:
    """Return whether a clause only names what to take and what not: "uv, never pip"."""
    verbs = {"is", "was", "are", "it's", "has", "have", "had", "does", "did", "that's"}
    is_contrast = any(mark in clause for mark in (", not ", ", never ", " over ")) and len(words) <= _SHORT
    return is_contrast and verbs.isdisjoint(words) and words[0] not in ACTS and not clause.startswith(NOT_NAMED)


def _says_why_not(said: str) -> bool:
    """Return whether a property of a thing is the reason to leave it alone: "It is generated, so don't edit it"."""
    reason = next((said.partition(mark)[0] for mark in _FOR_A_REASON if mark in said), "")
    return any(mark in f"{reason} " for mark in (" is ", " are ", " belongs ", " belong ")) and " not " not in reason


def _is_plural_rule(clause: str, words: list[str]) -> bool:
    """Return whether a clause begins with things and what they do by rule: "Feature flags default to off"."""
    if clause.startswith(_DETERMINED) or words[0] in NO_PLURALS or words[0] in ACTS:
        return False
    for at in range(1, min(_FEW, len(words) - 1)):
        if words[at] in PLURAL_VERBS and words[at - 1].endswith("s") and words[at - 1] not in NO_PLURALS:
            following = words[at + 1].strip(",.")
            is_state = following in STATES or following.endswith("ing") or following == "not"
            return words[at] != "are" or not is_state
    is_phrase = words[0].endswith("s") and len(words) > 1 and words[1] in {"at", "only"}
    return is_phrase or any(mark in f" {clause}" for mark in BY_RULE[:1] if words[0].endswith("s"))

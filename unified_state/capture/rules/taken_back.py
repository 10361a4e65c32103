"""Sentences with which the user takes a rule back: "Forget the rule about legacy/", "You may touch legacy/ now"."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.capture.rules.read_statement import Term

_ENDING = (
    "forget ", "ignore ", "drop ", "scrap ", "lift ", "cancel ", "withdraw ", "disregard ", "never mind ", "remove ",
    "vergiss ", "oublie ", "olvida ", "esqueça ", "esquece ", "忘掉", "忽略",
)  # fmt: skip
_RULES = (
    " rule", " constraint", " restriction", " ban ", "what i said", "what i told", " regel", " règle", " regla",
    " regra", "规则", "ルール",
)  # fmt: skip
_ENDED = (" no longer applies", " no longer holds", " is lifted", " is gone", " is obsolete", " gilt nicht mehr")
_ALLOWING = (
    "you may ", "you can ", "you are allowed to ", "you're allowed to ", "feel free to ", "it's ok to ",
    "it is ok to ", "it's fine to ", "it's okay to ", "from now on you may ", "from now on you can ", "du darfst ",
    "tu peux ", "ya puedes ", "ahora puedes ", "já podes ", "já pode ", "agora pode ", "现在可以",
)  # fmt: skip
_AGAIN = (
    " now", " again", " after all", "from now on", " jetzt", " wieder", " maintenant", " nouveau", "ya ", "ahora",
    "já ", "agora", "现在",
)  # fmt: skip
_OPENERS = ("ok ", "okay ", "ok, ", "please ", "also ", "and ")
_ALLOWED = (" is allowed now", " are allowed now", " is ok now", " are ok now", " is fine now", " are fine now")
_EMPTY = {
    "rule", "rules", "forget", "ignore", "drop", "scrap", "lift", "cancel", "withdraw", "disregard", "remove",
    "constraint", "restriction", "ban", "about", "now", "again", "may", "can", "allow", "allowed", "free", "feel",
    "say", "said", "tell", "told", "apply", "hold", "lifted", "obsolete", "fine", "ok", "okay", "never", "mind",
    "what", "all", "after", "regel", "vergiss", "darfst", "jetzt", "wieder", "règle", "oublie", "peux", "maintenant",
    "regla", "olvida", "puedes", "ahora", "regra", "esqueça", "pode", "agora",
}  # fmt: skip
_LEAST = 0.5  # of the words of the sentence that the rule must share


def takes_back(sentence: str) -> bool:
    """Return whether a sentence takes some rule back."""
    said = f"{sentence.lower().replace(chr(0x2019), chr(39)).strip(' .!。！')} "
    said = next((said[len(word) :] for word in _OPENERS if said.startswith(word)), said)
    if said.rstrip().endswith("?"):
        return False
    if any(mark in said for mark in _RULES) and (said.startswith(_ENDING) or any(mark in said for mark in _ENDED)):
        return True
    allows = said.startswith(_ALLOWING) and any(mark in said for mark in _AGAIN)
    return allows or said.rstrip().endswith(tuple(mark.rstrip() for mark in _ALLOWED))


def taken_back(sentence: str, rules: Sequence[str]) -> int | None:
    """Return the position of the rule that a sentence takes back: the one with most of its words. None if there is no
    such rule.
    """
    from unified_state.capture.rules.read_statement import NAME  # its tables of meanings, which few prompts need

    words = _words(sentence)
    total = sum(term.weight for term in words.values())
    names_rule = any(mark in f" {sentence.lower()} " for mark in _RULES)
    best, found = 0.5, None
    for number, rule in enumerate(rules):
        shared = words.keys() & _words(rule).keys()
        weight = sum(words[key].weight for key in shared)
        is_named = names_rule or len(shared) > 1 or any(words[key].kind == NAME for key in shared) or weight >= total
        if total and is_named and weight >= _LEAST * total and weight >= best:
            best, found = weight, number
    return found


def _words(text: str) -> dict[str, Term]:
    from unified_state.capture.rules.read_statement import read

    telling = " ".join(word for word in text.lower().split() if word.strip(".,;:!") not in _EMPTY)
    return read(telling).terms

"""Rules, decisions and corrections that the user states in a prompt or with a refusal. They become proposals.

Invariant: only what the user typed counts, as far as that can be told. Pasted, quoted and repeated text is left out.
"""

from __future__ import annotations

from unified_state.agents.transcripts.rules.own_words import own_passages
from unified_state.capture.rules.rule_forms import DECIDED, RULE, form_of, is_for_a_task, is_for_now, without_openers
from unified_state.capture.rules.rule_phrases import foreign_form_of
from unified_state.capture.rules.taken_back import takes_back
from unified_state.lib.text import is_cjk
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, CORRECTION, DECISION, DECISION_SAID, STANDING_RULE, TASK_RULE, Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST, _LONGEST = 10, 300  # characters of a sentence
_MOST = 30  # most rules in one prompt; a longer list was pasted
_MOST_TIMES = 2  # a sentence that occurs more often in a prompt was printed by a program
_HEADINGS = (
    "rules",
    "constraints",
    "conventions",
    "guidelines",
    "ground rules",
    "house rules",
    "keep in mind",
    "please follow",
)
_REFUSING, _LASTING = (
    ("no, ", "nope, ", "stop, ", "wait, no", "no. ", "no! "),
    (" always ", " never ", " again", "from now on"),
)
_LOUD = {"NEVER", "ALWAYS", "MUST", "ONLY", "MANDATORY", "FORBIDDEN", "REQUIRED", "NOT"}
_CORRECTING = (
    "don't ", "dont ", "do not ", "did not ", "didn't ", "not ", "never ", "instead", "wrong", "revert", "undo",
    "stop ", "on purpose", "should ", "use ", "keep ", "leave ", "remove ", "ignore ", "must ", "want ",
)  # fmt: skip
_SAID_BEFORE = (
    "i said ", "i told you", "i already told", "i did not say", "i didn't say", "i did not ask", "i didn't ask",
    "as i said", "like i said",
)  # fmt: skip
_BULLETS, _ENDS = ("-", "*", "\u2022"), (". ", "! ", "? ", "\u3002", "\uff01", "\uff1f")
_CODE = ("{", "}", "=>", "->", "==", "();", "://", "│", "\t", "|", "```")


def rules_said(prompt: str) -> Iterator[Fact]:
    """Yield the rules, decisions and corrections in the user's own words."""
    found = 0
    for number, (sentence, is_listed) in enumerate(_sentences(prompt)):
        rule = _rule_of(sentence, is_first=number == 0, is_listed=is_listed)  # most sentences have none
        if rule and found < _MOST and not takes_back(sentence):
            found += 1
            yield Fact(rule, *_BODIES[rule](sentence), sentence)


def own_sentences(prompt: str) -> list[str]:
    """Return the sentences that the user typed, in order."""
    return [sentence for sentence, _ in _sentences(prompt)]


def _constraint(sentence: str) -> tuple[str, str, str, dict[str, object]]:
    body = {"constraint": sentence, "source": "the user, in a prompt", "blocking": False}
    return CONSTRAINT, USER_SAID, "proposed", body


def _decision(sentence: str) -> tuple[str, str, str, dict[str, object]]:
    return DECISION, USER_SAID, "proposed", {"decision": sentence, "rationale": "", "reversible": True}


_BODIES = {STANDING_RULE: _constraint, TASK_RULE: _constraint, CORRECTION: _constraint, DECISION_SAID: _decision}


def _rule_of(sentence: str, *, is_first: bool, is_listed: bool) -> str:
    """Return the name of the rule that makes a sentence binding, or ""."""
    said = _comparable(sentence)
    words = without_openers(said)
    if words.startswith(_SAID_BEFORE) and not said.endswith("?"):
        return CORRECTION
    if is_first and words.startswith(_REFUSING) and not words.endswith("?"):
        is_lasting = any(mark in words for mark in _LASTING)
        return STANDING_RULE if is_lasting else CORRECTION if any(mark in words[3:] for mark in _CORRECTING) else ""
    is_loud = not _LOUD.isdisjoint(word.strip(",.:*") for word in sentence.split()) and not sentence.isupper()
    is_marked = is_listed or (is_loud and not is_for_now(said) and not said.endswith("?"))
    form = form_of(said) or foreign_form_of(said) or (RULE if is_marked else "")
    if form == RULE:
        return TASK_RULE if is_for_a_task(said) else STANDING_RULE
    is_refusing = is_first and words.startswith("no ") and any(mark in words[3:] for mark in _CORRECTING)
    return DECISION_SAID if form == DECIDED else CORRECTION if is_refusing and not words.endswith("?") else ""


def _comparable(sentence: str) -> str:
    """Return a sentence in lower case, with plain apostrophes, without emphasis, and with a name for quoted code."""
    plain = sentence.lower().replace("\u2019", "'").replace("**", "").replace("\u2013", "\u2014")
    parts = plain.split("`")
    return "".join(part if number % 2 == 0 else "quoted" for number, part in enumerate(parts)).strip(' *_"')


def _sentences(prompt: str) -> Iterator[tuple[str, bool]]:
    """Yield the user's own sentences, each with whether it stands in a list under a heading such as "Rules:"."""
    found: list[tuple[str, bool]] = []
    for passage in own_passages(prompt):
        is_listed = False
        for line in passage.split("\n"):
            is_item = line.lstrip()[:1] in _BULLETS
            found += [(sentence, is_listed and is_item) for sentence in _in_line(line)]
            if line.strip() and not is_item:
                is_listed = _is_heading(line)
    times: dict[str, int] = {}
    for sentence, _ in found:
        times[sentence] = times.get(sentence, 0) + 1
    yield from dict.fromkeys(one for one in found if times[one[0]] <= _MOST_TIMES)


def _is_heading(line: str) -> bool:
    heading = line.strip(" #*_").lower()
    return heading.endswith(":") and heading.rstrip(": ").endswith(_HEADINGS)


def _in_line(line: str) -> Iterator[str]:
    code = line.split("`")[::2]
    if line.lstrip().startswith((">", "#", "//", "$", "+", "<")) or any(
        mark in part for mark in _CODE for part in code
    ):
        return
    rest = line.strip().lstrip("-*\u2022").strip()
    while rest:
        ends = [place for mark in _ENDS if (place := rest.find(mark)) >= 0]
        end = min(ends, default=len(rest) - 1) + 1
        sentence, rest = rest[:end].strip(), rest[end:].strip()
        signs = 0 if sentence.isascii() else sum(map(is_cjk, sentence))
        if len(sentence) + signs >= _SHORTEST and len(sentence) <= _LONGEST:
            yield sentence

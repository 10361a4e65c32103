"""Rules and corrections that the user states in a prompt or with a refusal. They become proposed constraints.

Precision has priority: a missed rule can be recorded by hand, and a false one annoys. A found rule is not shown as a
fact before the user accepts it.
"""

from __future__ import annotations

from unified_state.agents.transcripts.rules.own_words import own_passages
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT, Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STANDING_RULE, CORRECTION = "standing rule", "correction"
# Words of which a prompt must contain one. Others are not searched.
_TELLTALES = (
    "always", "never", "n't", "do not", "dont ", "from now on", "in future", "in the future", "going forward",
    "every time", "whenever", "no,", "no ", "nope", "stop", "i said", "i told",
)  # fmt: skip
_LONGEST_PROMPT, _LONGEST_PARAGRAPH = 1_000, 400  # characters; longer text was pasted
_SHORTEST, _LONGEST = 12, 300  # characters of a sentence
_MOST = 3  # most rules in one prompt
_POLITE = (
    "please ", "pls ", "ok ", "ok, ", "okay ", "okay, ", "also ", "also, ", "and ", "but ", "so ", "just ", "again ",
    "remember ", "remember: ", "note ", "note: ", "yes, ", "yes ", "yeah ", "yeah, ",
)  # fmt: skip
_ALWAYS = (
    "always ", "never ", "from now on", "in future ", "in future, ", "in the future ", "in the future, ",
    "going forward", "every time you ", "whenever you ", "do not ever ", "don't ever ", "dont ever ",
    "make sure to always ", "make sure you always ",
)  # fmt: skip
_INSIDE = (
    ", always ", ", never ", " from now on", " going forward", "you should always ", "you should never ",
    "we always ", "we never ", "must never ", "must always ", "i never want ", "i always want ",
)  # fmt: skip
_SAYINGS = ("never mind", "never say never", "always nice", "always good", "always great", "always fun", "always a ")
_ASKING = ("explain ", "tell ", "describe ", "show ", "find out ", "check why ")
_DONTS = ("don't ", "dont ", "do not ", "never ")
_AGAIN = (" again", " anymore", " any more", " without asking", " unless i ")
_NO = ("no, ", "no ", "nope, ", "stop, ", "wait, no", "no. ", "no! ")
_CORRECTING = (
    "don't ", "dont ", "do not ", "did not ", "didn't ", "not ", "never ", "instead", "wrong", "revert", "undo",
    "stop ", "on purpose", "should ", "use ", "keep ", "leave ", "remove ", "ignore ", "must ", "want ",
)  # fmt: skip
_SAID_BEFORE = (
    "i said ", "i told you", "i already told", "i did not say", "i didn't say", "i did not ask", "i didn't ask",
    "as i said", "like i said",
)  # fmt: skip
_QUESTIONS = (
    "why ", "what ", "how ", "is ", "are ", "does ", "do we ", "do you ", "do i ", "did ", "can ", "could ",
    "should ", "would ", "where ", "when ", "which ", "who ", "will ", "has ", "have ",
)  # fmt: skip
_CODE = ("{", "}", "=>", "->", "==", "();", "://", "│", "\t", "|", "```")


def rules_said(prompt: str) -> Iterator[Fact]:
    """Yield the rules and corrections in the user's own words."""
    lowered = prompt.lower()
    if not any(word in lowered for word in _TELLTALES):
        return
    found = 0
    for number, sentence in enumerate(_sentences(prompt)):
        rule = _rule_of(sentence.lower(), is_first=number == 0)
        if rule and found < _MOST:
            found += 1
            body = {"constraint": sentence, "source": "the user, in a prompt", "blocking": False}
            yield Fact(rule, CONSTRAINT, USER_SAID, "proposed", body, sentence)


def _rule_of(sentence: str, *, is_first: bool) -> str:
    """Return the name of the rule that makes a sentence binding, or ""."""
    words = _without_courtesy(sentence)
    if words.endswith("?") or words.startswith((*_QUESTIONS, *_ASKING, *_SAYINGS)):
        return ""
    if words.startswith(_ALWAYS) or any(mark in words for mark in _INSIDE):
        return STANDING_RULE
    if words.startswith(_DONTS) and any(mark in words for mark in _AGAIN):
        return STANDING_RULE
    if words.startswith(_SAID_BEFORE):
        return CORRECTION
    is_refusing = is_first and words.startswith(_NO)
    return CORRECTION if is_refusing and any(mark in words[3:] for mark in _CORRECTING) else ""


def _without_courtesy(sentence: str) -> str:
    begin = 0
    while polite := next((word for word in _POLITE if sentence.startswith(word, begin)), ""):
        begin += len(polite)
    return sentence[begin:].lstrip(" ,:")


def _sentences(prompt: str) -> Iterator[str]:
    """Yield the user's own sentences. A long prompt is read only at its beginning and its end."""
    paragraphs = [part.strip() for passage in own_passages(prompt) for part in passage.split("\n\n") if part.strip()]
    if len(prompt) > _LONGEST_PROMPT:
        paragraphs = [paragraphs[0], paragraphs[-1]] if len(paragraphs) > 1 else []
    for paragraph in paragraphs:
        if len(paragraph) <= _LONGEST_PARAGRAPH or len(prompt) <= _LONGEST_PROMPT:
            for line in paragraph.split("\n"):
                yield from _in_line(line)


def _in_line(line: str) -> Iterator[str]:
    if line.lstrip().startswith((">", "#", "//", "$", "+", "<")) or any(mark in line for mark in _CODE):
        return
    rest = line.strip().lstrip("-*•").strip()
    while rest:
        ends = [place for mark in (". ", "! ", "? ", "; ") if (place := rest.find(mark)) >= 0]
        end = min(ends, default=len(rest) - 1) + 1
        sentence, rest = rest[:end].strip(), rest[end:].strip()
        if _SHORTEST <= len(sentence) <= _LONGEST:
            yield sentence

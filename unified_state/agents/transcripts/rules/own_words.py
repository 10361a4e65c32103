"""The parts of a prompt that are the user's own words. Only these can bind.

What the client, a hook, a file, a web page, a mail or a log put into the user's place is left out: tagged blocks
(`<system-reminder>`, `<pasted_content>`, `<task-notification>`, echoes of commands), fenced and indented code, quoted
lines, a quoted mail, the plan that the client hands over, long blocks without a list. In doubt a part is not the
user's. Invariant: every passage is a slice of the prompt.
"""

from __future__ import annotations

from unified_state.lib.text import is_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What the client, and no person, begins a prompt with.
_MACHINE_OPENINGS = (
    "Stop hook feedback:",
    "Implement the following plan:",  # the model's own, which the user approved
    "Base directory for this skill:",
    "Caveat: The messages below were generated",
    "This session is being continued from a previous conversation",
    "[Request interrupted",
)
# Tags of the client's and ours whose text is never the user's; without its end such a tag hides all that follows.
_MACHINE_TAGS = (
    "bash-", "command-", "ide_", "local-command-", "pasted_content", "persisted-output", "session-start-hook",
    "system-reminder", "task-", "teammate-message", "tool_use_error", "unified-state-", "user-prompt-submit-hook",
)  # fmt: skip
_FENCES = ("```", "~~~")
_FOREIGN_LINES = (">", "|", "    ", "\t", "$ ", "[Pasted text ", "[Image ", "[Attached ")
_MAIL_BEGINS = ("-----Original Message", "Begin forwarded message", "---------- Forwarded message")

# Words before a rule that change nothing of it: "Please, never push."
_OPENERS = {
    "actually", "again", "also", "and", "attention", "btw", "but", "from", "here", "hey", "important", "just", "no",
    "note", "now", "oh", "ok", "okay", "on", "please", "remember", "reminder", "rule", "so", "then", "yeah", "yes",
}  # fmt: skip
_WIDE_ENDINGS = "\u3002\uff01\uff1b"  # of Chinese and Japanese sentences, with no space behind them
_ENDINGS, _ASIDES = ".!;\n", ",:-\u2013\u2014*\u2022)( \t0123456789."
_BEGINNINGS = f"?\uff1f{_ENDINGS}{_WIDE_ENDINGS}"  # signs behind which a sentence may begin
_BULLETS = set("-*\u2022+0123456789")
_LEAST_WORDS, _MOST_LINES, _LONGEST_PARAGRAPH = 3, 8, 2_000
_CHARACTERS_OF_A_WORD = 2  # in Chinese and Japanese
_MOST_TAGS = 200  # different ones in a prompt; what has more is no person's


def own_passages(prompt: str) -> list[str]:
    """The paragraphs of a prompt that its user wrote, in order; what follows a block that nobody typed may belong to
    it.
    """
    if prompt.lstrip().startswith(_MACHINE_OPENINGS):
        return []
    passages: list[str] = []
    for part in _outside_tags(prompt):
        for paragraph in (paragraph for lines in _outside_quotes(part) for paragraph in lines.split("\n\n")):
            if not _is_typed(paragraph):
                return passages
            if paragraph.strip():
                passages.append(paragraph)
    return passages


def said_in(passages: list[str], text: str) -> str | None:
    """The words of a passage that make a text's statement by themselves; None if there are none. A part of a sentence
    may say the opposite, and a question says nothing.
    """
    if len(text.split()) + sum(map(is_cjk, text)) // _CHARACTERS_OF_A_WORD < _LEAST_WORDS:
        return None
    for passage in passages:
        words = _statement(passage, text.strip().rstrip(_ENDINGS + _WIDE_ENDINGS))
        if words is not None:
            return words
    return None


def _is_typed(paragraph: str) -> bool:
    """Whether a person may have typed a paragraph: of many lines only a list, and not without end."""
    lines = paragraph.strip().split("\n")
    items = sum(line.lstrip()[:1] in _BULLETS for line in lines if line.strip())
    return len(paragraph) <= _LONGEST_PARAGRAPH and (len(lines) <= _MOST_LINES or items > len(lines) / 2)


def _outside_tags(text: str) -> Iterator[str]:
    """The text outside of `<tag>…</tag>`; a tag reaches to its last end, so that nothing inside can close it."""
    begin = at = 0
    closings: dict[str, int] = {"": -1}
    while (at := text.find("<", at)) >= 0:
        name = _tag_name(text, at)
        close = closings[name] if name in closings else closings.setdefault(name, text.rfind(f"</{name}>"))
        if close > at:
            yield text[begin:at]
            begin = at = close + len(name) + 3
        elif name.startswith(_MACHINE_TAGS) or len(closings) > _MOST_TAGS:
            yield text[begin:at]
            return
        else:
            at += 1
    yield text[begin:]


def _tag_name(text: str, at: int) -> str:
    """The name of the tag that opens there; empty where none does."""
    end = at + 1
    while end < len(text) and (text[end].isalnum() or text[end] in "-_:"):
        end += 1
    return text[at + 1 : end] if text[end : end + 1] in (">", " ", "\n", "/") and text[at + 1].isalpha() else ""


def _outside_quotes(text: str) -> Iterator[str]:
    """The runs of lines that are no code, no quotation and no mail."""
    begin = at = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        opens = bare[:3] if bare.startswith(_FENCES) else ""
        if not fence and _begins_mail(bare):
            break
        if fence or opens or line.startswith(_FOREIGN_LINES):
            yield text[begin:at]
            begin = at + len(line)
        if opens:
            fence = "" if fence == opens else fence or opens
        at += len(line)
    yield text[begin:at]


def _begins_mail(line: str) -> bool:
    return line.startswith(_MAIL_BEGINS) or (line.startswith("On ") and line.endswith("wrote:"))


def _statement(passage: str, text: str) -> str | None:
    folded, wanted = passage.lower(), text.lower()
    if len(folded) != len(passage) or not wanted:
        return None
    at = -1
    while (at := folded.find(wanted, at + 1)) >= 0:
        end = at + len(wanted)
        if _begins_here(passage, at) and _ends_here(passage, end):
            return passage[at:end]
    return None


def _begins_here(passage: str, at: int) -> bool:
    """Whether a sentence begins there, or began with words that change nothing of it."""
    before = max(passage.rfind(sign, 0, at) for sign in _BEGINNINGS) + 1
    lead = passage[before:at].lower()
    for sign in _ASIDES:
        lead = lead.replace(sign, " ")
    return all(word in _OPENERS for word in lead.split())


def _ends_here(passage: str, end: int) -> bool:
    rest = passage[end:].lstrip(" \t")
    if not rest or rest[0] in _WIDE_ENDINGS:
        return True
    return rest[0] in _ENDINGS and (len(rest) == 1 or rest[0] == "\n" or rest[1].isspace())

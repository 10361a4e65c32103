"""The block in which a summary reports new items: its format and its parser.

Its lines are `decision: …`, `constraint: …`, `question: …` and `next: …` between fences named `unified-state`. Other
text can imitate a block. So only the last complete block outside of quotations counts, with limits on the number and
the length of its lines. The content was written by a model.
"""

from __future__ import annotations

import re

from unified_state.lib.record import Record
from unified_state.lib.text import one_line
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, DECISION, QUESTION

NEXT = "next"
NAME = "unified-state"
FORM = (
    "New decisions, constraints, questions and next steps end it in this form:\n"
    f"```{NAME}\ndecision: …\nconstraint: …\nquestion: …\nnext: …\n```"
)
MOST_LINES = 24
LONGEST_LINE = 500  # characters
_KINDS = {
    **dict.fromkeys(("decision", "decisions", "decided"), DECISION),
    **dict.fromkeys(("constraint", "constraints", "rule"), CONSTRAINT),
    **dict.fromkeys(("question", "questions", "open question"), QUESTION),
    **dict.fromkeys((NEXT, "next step", "next steps", "todo", "pending"), NEXT),
}
_LONGEST_KIND = 16
_BLOCK = re.compile(r"^\s*?(`{3,}|~{3,})[ \t]*(.*?)\s*$(.*?)(?:^\s*?(\1[`~]*)\s*?$|\Z)", re.MULTILINE | re.DOTALL)
_LETTERS = "".join(ALIAS_LETTERS.values())


class BlockLine(Record):
    """One line of the block: the kind of the new item and its text."""

    kind: str
    text: str


def read_block(summary: str) -> tuple[BlockLine, ...]:
    """Return the items that the block of a summary reports, none without a block."""
    reported: dict[tuple[str, str], BlockLine] = {}
    for line in _last_block(summary):
        found = _reported(line)
        if found is not None:
            reported.setdefault((found.kind, found.text.casefold()), found)
        if len(reported) == MOST_LINES:
            break
    return tuple(reported.values())


def alias_in_front(text: str) -> str:
    """Return the ref at the beginning of a text (`D7: …`, `(D7) …`), or ""."""
    word = text.lstrip("([*`").split(None, 1)[0] if text.strip("([*` ") else ""
    word = word.rstrip(":)]*`.,").upper()
    return word if word[:1] in _LETTERS and word[1:].isascii() and word[1:].isdigit() else ""


def _last_block(summary: str) -> list[str]:
    """Return the lines of our last complete block. A fence inside another block is text, as in Markdown, and a quoted
    one (`> …`) is none.
    """
    block: list[str] = []
    for _, info, content, ending in _BLOCK.findall(summary):
        if info.strip(":{} .").lower() == NAME:
            lines = list(filter(str.strip, content.splitlines()))
            if ending or (lines and all(map(_kind_and_text, lines))):  # the last fence may be cut off
                block = lines
    return block


def _kind_and_text(line: str) -> tuple[str, str] | None:
    """Return the kind and the text of a line, or None. `- **Decision**: …` is a decision too."""
    name, colon, text = line.replace("\uff1a", ":", 1).partition(":")
    name = name.strip(" \t-*•_`").lower()
    kind = _KINDS.get(name) if colon and len(name) <= _LONGEST_KIND else None
    return (kind, text.strip(" \t*_")) if kind else None


def _reported(line: str) -> BlockLine | None:
    found = _kind_and_text(line)
    if found is None:
        return None
    kind, text = found[0], one_line(found[1])
    says_something = any(character.isalpha() for character in text) and text.casefold() not in {"none", "n/a"}
    return BlockLine(kind, text) if says_something and len(text) <= LONGEST_LINE and not _is_placeholder(text) else None


def _is_placeholder(text: str) -> bool:
    return text[0] == "<" and text[-1] == ">"

"""The block with which a summary reports what is new: its form, and how it is read.

Its lines are `decision: …`, `constraint: …`, `question: …` and `next: …` between fences named `unified-state`.
Other text can imitate a block. Only the last complete block outside of quotations counts, with a limited number of
lines of a limited length. A model wrote what is read here.
"""

from __future__ import annotations

from unified_state.lib.record import Record
from unified_state.lib.text import one_line
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, DECISION, QUESTION

NEXT = "next"
NAME = "unified-state"
FORM = (
    "Its last lines are this block, with a line for each thing that is new and not in the list above, or with none:\n"
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
_SHORTEST_FENCE = 3
_LETTERS = "".join(ALIAS_LETTERS.values())


class Reported(Record):
    """One line of the block: what kind of thing is new, and the words that say it."""

    kind: str
    text: str


def read_block(summary: str) -> tuple[Reported, ...]:
    """Return what the block of a summary reports, and nothing where it has no block."""
    reported: dict[tuple[str, str], Reported] = {}
    for line in _last_block(summary.splitlines()):
        found = _reported(line)
        if found is not None:
            reported.setdefault((found.kind, found.text.casefold()), found)
        if len(reported) == MOST_LINES:
            break
    return tuple(reported.values())


def alias_in_front(text: str) -> str:
    """The ref that a text begins with (`D7: …`, `(D7) …`), or nothing."""
    word = text.lstrip("([*`").split(None, 1)[0] if text.strip("([*` ") else ""
    word = word.rstrip(":)]*`.,").upper()
    return word if word[:1] in _LETTERS and word[1:].isascii() and word[1:].isdigit() else ""


def _last_block(lines: list[str]) -> list[str]:
    """The lines of the last whole block of ours. A fence inside another one is text, as in Markdown."""
    block: list[str] = []
    fence, begin, is_ours = "", 0, False
    for number, line in enumerate(lines):
        mark, info = _fence(line)
        if not fence and mark:
            fence, begin, is_ours = mark, number + 1, info.strip(":{} .").lower() == NAME
        elif fence and not info and mark[:1] == fence[0] and len(mark) >= len(fence):
            if is_ours:
                block = lines[begin:number]
            fence = ""
    rest = [line for line in lines[begin:] if line.strip()] if fence and is_ours else []
    return rest if rest and all(map(_kind_and_text, rest)) else block  # the last fence may have been cut off


def _fence(line: str) -> tuple[str, str]:
    """The fence that a line is and what stands behind it. A quoted line (`> …`) is none."""
    line = line.strip()
    mark = line[: len(line) - len(line.lstrip(line[:1]))] if line[:1] in {"`", "~"} else ""
    return (mark, line[len(mark) :].strip()) if len(mark) >= _SHORTEST_FENCE else ("", "")


def _kind_and_text(line: str) -> tuple[str, str] | None:
    """The kind of a line and what it says: `- **Decision**: …` is a decision too."""
    name, colon, text = line.replace("\uff1a", ":", 1).partition(":")
    name = name.strip(" \t-*•_`").lower()
    kind = _KINDS.get(name) if colon and len(name) <= _LONGEST_KIND else None
    return (kind, text.strip(" \t*_")) if kind else None


def _reported(line: str) -> Reported | None:
    found = _kind_and_text(line)
    if found is None:
        return None
    kind, text = found[0], one_line(found[1])
    says_something = any(character.isalpha() for character in text) and text.casefold() not in {"none", "n/a"}
    return Reported(kind, text) if says_something and len(text) <= LONGEST_LINE and not _is_placeholder(text) else None


def _is_placeholder(text: str) -> bool:
    return text[0] == "<" and text[-1] == ">"

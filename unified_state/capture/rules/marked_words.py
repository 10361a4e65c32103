"""Words that the user marks: `remember:`, `rule:`, `decision:`, `todo:` in the first or last line of a prompt, and a
prompt that only accepts or rejects proposals.

Invariant: a marked line is in the user's own words (see `own_words`), and the text behind the mark is not empty.
"""

from __future__ import annotations

import re
from typing import Any

from unified_state.hosts.transcripts.rules.own_words import own_passages, without_command
from unified_state.lib.record import Record
from unified_state.lib.text import text_hash
from unified_state.model.constraint import INFERRED
from unified_state.model.item import ALIAS_LETTERS, CONSTRAINT, DECISION, MAIN_FIELDS, OTHER_FIELDS, QUESTION, Fact

MARKED = "marked words"
ACCEPT, REJECT = "accept", "reject"
# What a marked line becomes, and the further fields of its body.
_MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "remember": (CONSTRAINT, {"source": "marked in a prompt, to remember"}),
    "rule": (CONSTRAINT, {"source": "marked in a prompt, as a rule"}),
    "decision": (DECISION, {"rationale": "marked in a prompt"}),
    "todo": (QUESTION, {"context": "marked in a prompt, to do"}),
}
_MARKED_LINE = re.compile(rf"\s*(?:(?:[-*+\u2022]|\d+[.)]) \s*)?((?ai:{'|'.join(_MARKS)})):\s*(\S.*)")  # and its bullet
_LONGEST_DECISION = 1_000  # characters of a prompt


class Mark(Record):
    """A marked line: the mark in lower case, the text behind it, and the line."""

    word: str
    text: str
    line: str

    @property
    def kind(self) -> str:
        """The kind of item that it becomes."""
        return _MARKS[self.word][0]

    @property
    def body(self) -> dict[str, Any]:
        """The body of that item."""
        return {MAIN_FIELDS[self.kind]: self.text, **OTHER_FIELDS[self.kind], **_MARKS[self.word][1]}

    @property
    def key(self) -> str:
        """The capture key. Hook, transcript and a fork of it tell of the same words, which are captured once."""
        return f"{MARKED}:{text_hash(f'{self.word}: {self.text}')}"

    def proposed(self) -> Fact:
        """Return the proposal of the item, where nothing tells that the user typed the line."""
        return Fact(MARKED, self.kind, INFERRED, "proposed", self.body, self.line, key=self.key)


def marks_in(prompt: str) -> tuple[list[Mark], list[Mark]]:
    """Return the marks in the first and the last line of a prompt: those in the user's own words, and those that may be
    pasted.
    """
    text = without_command(prompt) or ""
    lines = text.strip().split("\n")
    found = [mark for line in dict.fromkeys((lines[0], lines[-1])) if (mark := _read(line)) is not None]
    if not found:
        return [], []
    passages = own_passages(text) or [""]
    own_lines = passages[0].strip().split("\n")[0].strip(), passages[-1].strip().split("\n")[-1].strip()
    own = [mark for mark in found if mark.line in own_lines]
    return own, [mark for mark in found if mark not in own]


def _read(line: str) -> Mark | None:
    found = _MARKED_LINE.match(line)
    return Mark(found[1].lower(), found[2].strip(), line.strip()) if found else None


def decided_refs(prompt: str) -> tuple[str, list[str]]:
    """Return what a whole prompt decides about proposals, `accept` or `reject`, and their refs; ("", []) for any other
    prompt.
    """
    verb, *refs = prompt[:_LONGEST_DECISION].lower().replace(",", " ").split() or [""]
    is_decision = len(prompt) <= _LONGEST_DECISION and verb in (ACCEPT, REJECT) and refs and all(map(_is_ref, refs))
    return (verb, [ref.upper() for ref in refs]) if is_decision else ("", [])


def _is_ref(word: str) -> bool:
    return word[:1].upper() in ALIAS_LETTERS.values() and word[1:].isascii() and word[1:].isdigit()

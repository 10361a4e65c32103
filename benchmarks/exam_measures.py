"""What a restored text is worth beyond its answers: rework that it saves, noise, and statements that are wrong.

* **rework**: of the lines that the agent looked up again after the compaction and then used (benchmarks/lean_uses.py),
  the share that the text or the summary held. A line used by a name in it is held where the name is.
* **noise**: the share of the text's tokens in lines of which the agent used nothing and no question asked anything.
  Of a long line each piece of 160 characters counts by itself, since one name of forty excuses not the others.
* **wrong**: lines that show as current what had passed: see `exam_wrong`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.exam_questions import Question, plain, strings_of
from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import holds, in_one_line
from benchmarks.lean_sessions import stretches_of
from benchmarks.lean_uses import VERBATIM, bare, names, uses
from benchmarks.transcripts import Entry, blocks, said
from unified_state.lib.tokens import count_tokens

_LOOK_UPS = frozenset(["Bash", "Glob", "Grep", "LS", "NotebookRead", "Read", "TaskOutput", "WebFetch", "WebSearch"])
_PIECE = 160  # characters
_RUN = 4  # words in a row that are not there by chance
_TELLING = 5  # characters of a string of a `must` that are not there by chance
_WORD = re.compile(r"[^\W_]+")
_SECTION = re.compile(r"\[([A-Z][A-Z ]+)\]")
_LABEL = re.compile(r"(also|commands?|errors?|ran|refs): ")
_TURN = re.compile(r"T\d+ ")


class Line(NamedTuple):
    """A line of a text, and what kind of line it is."""

    kind: str
    text: str


class Piece(NamedTuple):
    """A line or a piece of it: its kind, its tokens, and whether anything of it was used or asked."""

    kind: str
    text: str
    tokens: int
    serves: bool


def rework(case: Case) -> list[tuple[str, str]]:
    """What the agent looked up again and used, once each: how it was used, and the line or name."""
    (stretch,) = stretches_of(case.name, case.after)
    before = {bare(line) for entry in case.before for line in said(entry).splitlines()}
    again: dict[tuple[str, str], None] = {}
    for output, found in zip(stretch.outputs, uses(stretch), strict=True):
        if output.tool in _LOOK_UPS:
            for use in found:
                if any(bare(output.lines[line]) in before for line in use.lines):
                    again[use.way, use.words] = None
    return list(again)


def held_rework(again: Sequence[tuple[str, str]], text: str) -> float | None:
    """The share of the rework that a text holds; None where there was none."""
    flat = in_one_line(text)
    held = sum(in_one_line(words) in flat if way == VERBATIM else holds(text, words) for way, words in again)
    return held / len(again) if again else None


def pieces_of(lines: Sequence[Line], case: Case, questions: Sequence[Question]) -> list[Piece]:
    """The pieces of the lines, each with whether it served."""
    cut = [(line.kind, piece) for line in lines for piece in textwrap.wrap(line.text, _PIECE, break_on_hyphens=False)]
    sizes = count_tokens([f"{piece}\n" for _, piece in cut]) if cut else []
    served = _Served(case, questions)
    return [Piece(kind, piece, size, served.by(piece)) for (kind, piece), size in zip(cut, sizes, strict=True)]


def noise(pieces: Sequence[Piece]) -> float | None:
    """The share of the tokens in pieces that served nothing; None where there are none."""
    whole = sum(piece.tokens for piece in pieces)
    return sum(piece.tokens for piece in pieces if not piece.serves) / whole if whole else None


def lines_of(text: str) -> Iterator[Line]:
    """The lines of a text that say anything, each with its kind: its section, its label, or what it looks like."""
    section = "text"
    for line in filter(_WORD.search, text.splitlines()):
        if found := _SECTION.match(line):
            section = found[1].casefold()
        if found := _LABEL.match(line):
            yield Line(found[1], line)
        elif section == "working set" and not line.startswith("["):
            yield Line("file", line)
        else:
            section = "turn" if _TURN.match(line) else section
            yield Line(section, line)


class _Served:
    """What the agent wrote after the compaction, and what the questions ask for."""

    def __init__(self, case: Case, questions: Sequence[Question]) -> None:
        written = "\n".join(said(entry) for entry in _own(case.after))
        answers = "\n".join(question.answer for question in questions)
        self._names = names(written) | names(answers)
        self._runs = {*_runs(written), *_runs(answers)}
        strings = (string for question in questions for must in question.must for string in strings_of(must))
        self._asked = {string for string in strings if len(string) >= _TELLING}

    def by(self, line: str) -> bool:
        """Whether a line shares a name or a run of words with what was written or asked."""
        whole = plain(line)
        return (
            not self._names.isdisjoint(names(line))
            or not self._runs.isdisjoint(_runs(line))
            or any(string in whole for string in self._asked)
        )


def _own(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The agent's entries."""
    return (entry for entry in entries if entry["type"] == "assistant" and blocks(entry))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return zip(*(words[start:] for start in range(_RUN)), strict=False)

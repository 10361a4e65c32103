"""The questions of an exam, and whether a text tells what they ask for.

A file of questions is a list of {"case": "SESSION#N", "questions": [{"kind", "q", "answer", "must"}, ...]}. SESSION is
the first 8 characters of the transcript's name, N the number of the compaction in it, from 0. `must` lists strings that
any text with the answer holds; `|` separates alternatives.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.hindcast_cases import Case, cases_of
from benchmarks.transcripts import find_transcripts

NEAR = 500  # characters of each other that the strings of a `must` stand within
LOOK, REPORT = "look", "report"
_SESSION_CHARACTERS = 8
_IGNORED = re.compile(r"[\s'\"`\u2018\u2019\u201c\u201d]+")


class Question(NamedTuple):
    """A question, its answer, and what any text with the answer holds."""

    kind: str
    text: str
    answer: str
    must: tuple[str, ...]


class Sitting(NamedTuple):
    """A compaction with its questions, if there are any."""

    name: str
    case: Case
    questions: tuple[Question, ...]

    @property
    def session(self) -> str:
        """The session's short name."""
        return self.name.partition("#")[0]


def load_questions(file: Path) -> dict[str, tuple[Question, ...]]:
    """The questions of each case. Raise ValueError where the file has another shape."""
    try:
        return {
            entry["case"]: tuple(Question(q["kind"], q["q"], q["answer"], tuple(q["must"])) for q in entry["questions"])
            for entry in json.loads(file.read_text(encoding="utf-8"))
        }
    except (KeyError, TypeError, ValueError) as error:
        message = f"{file} is no list of cases with questions: {error!r}"
        raise ValueError(message) from error


def find_sittings(folder: Path, questions: dict[str, tuple[Question, ...]]) -> list[Sitting]:
    """All compactions of a folder, session by session. Raise ValueError if one with questions is missing."""
    found: dict[str, Case] = {}
    for path in find_transcripts(folder):
        session = path.name[:_SESSION_CHARACTERS]
        for _, case in cases_of(path, session):
            found.setdefault(f"{session}#{case.number}", case)
    if missing := [name for name in questions if name not in found]:
        message = f"{folder} has no compaction {', '.join(missing)}"
        raise ValueError(message)
    return [Sitting(name, case, questions.get(name, ())) for name, case in found.items()]


def half_of(project: str) -> str:
    """The half that a project belongs to, whatever other projects there are: one to tune on, one to report."""
    return (REPORT, LOOK)[hashlib.sha256(project.encode()).digest()[0] % 2]


def tells(text: str, must: Sequence[str]) -> bool:
    """Whether all strings of a `must` stand within `NEAR` characters of each other in a text."""
    whole = plain(text)
    places = sorted(
        (found.start(), number)
        for number, alternatives in enumerate(must)
        for string in strings_of(alternatives)
        for found in re.finditer(re.escape(string), whole)
    )
    newest: dict[int, int] = {}
    for place, number in places:
        newest[number] = place
        if len(newest) == len(must) and place - min(newest.values()) <= NEAR:
            return True
    return False


def plain(text: str) -> str:
    """A text without case, quotes and white space."""
    return _IGNORED.sub("", text).casefold()


def strings_of(must: str) -> list[str]:
    """The alternatives of one entry of a `must`, as `plain` has them."""
    return [found for alternative in must.split("|") if (found := plain(alternative))]

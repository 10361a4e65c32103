"""Stories: a decision, then real work of other sessions up to a real compaction with its real summary, N times, then a
prompt that needs the decision.

The work and the summaries come from transcripts in a folder that the user names. A summary was written by a model that
did not see the decision, so it cannot hold it: the first kind of story shows the worst case of a summary. The second
asks a question about a real session, whose summary may well hold the answer. The same folder gives the same stories.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.exam_questions import find_sittings, load_questions
from benchmarks.hindcast_cases import cases_of
from benchmarks.transcripts import Entry, find_transcripts, is_conversation, parse, read_lines
from evaluation.facts import Fact, facts_of, held
from evaluation.tasks import Said, Task

LEAST_ENTRIES = 40  # of a piece of work before its compaction


@dataclass(frozen=True)
class Work:
    """Real work up to a compaction: the entries, the folder that they name, and the summary."""

    name: str
    folder: str
    entries: tuple[Entry, ...]
    summary: str


@dataclass(frozen=True)
class Story:
    """What happens in a session, and what a right answer to the last prompt needs."""

    name: str
    kind: str
    decided: tuple[Said, ...]
    works: tuple[Work, ...]
    prompt: str
    module: str
    facts: tuple[Fact, ...]


def find_works(folder: Path) -> list[Work]:
    """Return the compactions of a folder that have enough work before them. Raise ValueError if there is none."""
    works: list[Work] = []
    for path in find_transcripts(folder):
        name = path.relative_to(folder).as_posix().partition(".jsonl")[0]
        if '"compact_boundary"' in "".join(lines := read_lines(path)):
            works += [work for work in _works_of(name, lines, path) if len(work.entries) >= LEAST_ENTRIES]
    if not works:
        message = f"{folder}: no transcript with a compaction in it"
        raise ValueError(message)
    return works


def _works_of(name: str, lines: Sequence[str], path: Path) -> Iterator[Work]:
    summaries = {case.number: case.summary for _, case in cases_of(path, name)}
    cuts = [number for number, line in enumerate(lines) if parse(line).get("subtype") == "compact_boundary"]
    for number, (start, end) in enumerate(pairwise([0, *cuts])):
        if number in summaries:
            entries = [entry for entry in map(parse, lines[start:end]) if _is_work(entry)]
            folder = next((str(entry["cwd"]) for entry in entries if entry.get("cwd")), "")
            yield Work(f"{name}#{number}", folder, tuple(entries), summaries[number])


def _is_work(entry: Entry) -> bool:
    return is_conversation(entry) and not entry.get("isCompactSummary")


def decision_stories(tasks: Sequence[Task], works: Sequence[Work], compactions: int) -> list[Story]:
    """A story a task, but none whose bug report holds the facts. Raise ValueError if there is too little work."""
    if len(works) < compactions:
        message = f"{compactions} compactions need so many in the transcripts, not {len(works)}"
        raise ValueError(message)
    stories = []
    for task in tasks:
        facts = tuple(facts_of(task))
        if held(task.bug_report, facts) < 1:
            ordered = sorted(works, key=lambda work: hashlib.sha256(f"{task.name} {work.name}".encode()).digest())
            stories.append(
                Story(
                    task.name,
                    "decision",
                    task.decided,
                    tuple(ordered[:compactions]),
                    task.bug_report,
                    task.module,
                    facts,
                )
            )
    return stories


def question_stories(transcripts: Path, questions: Path) -> list[Story]:
    """A story a question about a real session; its author gave the words of the answer."""
    stories = []
    for sitting in find_sittings(transcripts, load_questions(questions)):
        entries = tuple(entry for entry in map(parse, sitting.case.lines) if _is_work(entry))
        folder = next((str(entry["cwd"]) for entry in entries if entry.get("cwd")), "")
        work = Work(sitting.name, folder, entries, sitting.case.summary)
        for number, question in enumerate(sitting.questions):
            fact = Fact(must=question.must)
            stories.append(Story(f"{sitting.name}.{number}", "question", (), (work,), question.text, "", (fact,)))
    return stories


def as_line(entry: Entry, work: Work, folder: str) -> str:
    """An entry as a line in which the folder of the work is `folder`."""
    line = json.dumps(entry, separators=(",", ":"))
    return line.replace(json.dumps(work.folder)[1:-1], json.dumps(folder)[1:-1]) if work.folder else line

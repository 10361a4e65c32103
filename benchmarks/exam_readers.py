"""A model's answers in place of a search for strings: any command that reads a prompt from stdin and prints an answer.

The reader sees the summary, the restored text and the question. A second call of the same command grades: it sees the
question, the expected answer and the given one. Each call runs in an empty folder, where an agent finds nothing.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.exam_questions import Question

MARKS = {"right": 1.0, "half": 0.5, "unknown": 0.0, "wrong": -0.5}
_AT_ONCE = 4
_SECONDS = 600
_READ = """Answer the question from these notes and from nothing else, in at most 25 words. Use no tools. \
If the notes do not tell, answer: unknown.

<notes>
{notes}
</notes>

Question: {question}
"""
_GRADE = """Grade the given answer by the expected one. Reply with one word:
right (all facts), half (half of the facts, nothing wrong), unknown (no answer given), or wrong.

Question: {question}
Expected answer: {expected}
Given answer: {given}
"""


def examine(command: str, notes: str, questions: Sequence[Question]) -> list[float]:
    """The mark of each question. Raise RuntimeError if the command fails or a grade is none."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda question: _mark(command, notes, question), questions))


def _mark(command: str, notes: str, question: Question) -> float:
    given = _said(command, _READ.format(notes=notes, question=question.text))
    graded = _said(command, _GRADE.format(question=question.text, expected=question.answer, given=given))
    words = [word for word in re.findall(r"[a-z]+", graded.lower()) if word in MARKS]
    if len(set(words)) != 1:
        message = f"the grader must say one of {', '.join(MARKS)}, not {graded!r}"
        raise RuntimeError(message)
    return MARKS[words[0]]


def _said(command: str, prompt: str) -> str:
    with tempfile.TemporaryDirectory(prefix="unified-state-exam-") as folder:
        try:
            done = subprocess.run(
                shlex.split(command),
                input=prompt,
                capture_output=True,
                encoding="utf-8",
                cwd=folder,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            message = f"{command}: no answer in {_SECONDS} seconds"
            raise RuntimeError(message) from error
    if done.returncode:
        message = f"{command}: exit {done.returncode}\n{done.stderr.strip()}"
        raise RuntimeError(message)
    return done.stdout.strip()

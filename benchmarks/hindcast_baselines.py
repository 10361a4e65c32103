"""What other memories would give back: rankings of what was before the cut, best first, to be cut at a budget.

Most rank steps: a prompt, a text of the agent, or a tool call with its result, in one line; of a long one its first and
last 450 characters, since an outcome stands at the end.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

from benchmarks.bm25 import Bm25
from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import entities, in_one_line, programs
from benchmarks.transcripts import blocks, calls, said, strings
from unified_state.lib.times import to_milliseconds
from unified_state.lib.tokens import count_tokens

Ranking = Callable[[Case, int], Iterable[str]]

_HALF_STEP = 450  # characters
_CHARACTERS_PER_TOKEN = 10  # more than any text has that an agent reads or writes
_HALF_LIFE = 7 * 86_400_000  # milliseconds
_TOOL_BOOST, _FILE_BOOST = 0.5, 0.3
_CONFIDENCE, _LEAST_CONFIDENCE, _BOOST, _DECAY, _HOUR = 0.8, 0.1, 1.03, 0.005, 3_600_000  # decay per hour


class Step(NamedTuple):
    """A step: its text, when it was (milliseconds), after how many compactions, and what it is or used."""

    text: str
    at: int
    epoch: int
    is_prompt: bool = False
    has_tool: bool = False
    has_file: bool = False


def within(units: Iterable[str], tokens: int) -> str:
    """The units, a line each, as far as the budget goes; the last one may be cut between two words."""
    words = re.findall(r"\s*\S+", "\n".join(units)[: tokens * _CHARACTERS_PER_TOKEN])
    kept = bisect_right(list(accumulate(count_tokens(words))), tokens)
    while count_tokens(["".join(words[:kept])])[0] > tokens:  # the words count a little less than the whole
        kept -= 1
    return "".join(words[:kept])


def steps_of(case: Case) -> list[Step]:
    """The steps before the cut, in order."""
    steps: list[Step] = []
    called = calls(case.before)
    at, epoch = 0, 0
    for entry in case.before:
        at = to_milliseconds(entry.get("timestamp")) or at
        if entry.get("isCompactSummary"):
            epoch += 1
            continue
        for block in blocks(entry):
            text, is_prompt = _line(strings(block.get("text"))), entry["type"] == "user"
            if text:
                steps.append(Step(text, at, epoch, is_prompt=is_prompt))
            elif block.get("type") == "tool_use" and not is_prompt:
                call = next(called)  # they come in this order
                text = _line([call.tool, *strings(call.given), call.result])
                steps.append(Step(text, at, epoch, has_tool=True, has_file=call.file is not None))
    return steps


def _line(texts: list[str]) -> str:
    line = in_one_line(" ".join(texts))
    return line if len(line) <= 2 * _HALF_STEP else f"{line[:_HALF_STEP]} … {line[-_HALF_STEP:]}"


def last_steps(case: Case, _tokens: int) -> Iterable[str]:
    """The newest steps first."""
    return [step.text for step in reversed(steps_of(case))]


def bm25_on_prompt(case: Case, _tokens: int) -> Iterable[str]:
    """The steps that match the last prompt."""
    steps = steps_of(case)
    prompt = next((step.text for step in reversed(steps) if step.is_prompt), "")
    with Bm25([step.text for step in steps]) as index:
        return [steps[number].text for number in index.ranked(prompt, len(steps))]


def seed_formula(case: Case, tokens: int) -> Iterable[str]:
    """The steps by recency x frequency x richness x confidence, where a step counts as accessed each time it was given
    back after an earlier compaction of the session.
    """
    steps = steps_of(case)
    accessed: Counter[int] = Counter()
    ranked: list[int] = []
    for epoch in range(max((step.epoch for step in steps), default=0) + 1):
        known = [number for number, step in enumerate(steps) if step.epoch <= epoch]
        now = max((steps[number].at for number in known), default=0)
        worth = {number: _importance(steps[number], now, accessed[number]) for number in known}
        ranked = sorted(known, key=lambda number: (-worth[number], -number))
        given = within((steps[number].text for number in ranked), tokens)
        accessed.update(number for number in ranked if steps[number].text in given)
    return [steps[number].text for number in ranked]


def _importance(step: Step, now: int, accesses: int) -> float:
    """importance = 2^(-age / 7 days) x (log2(accesses + 1) + 1) x (1 + .5 for tools + .3 for files) x confidence"""
    recency = math.exp2((step.at - now) / _HALF_LIFE)
    richness = 1 + _TOOL_BOOST * step.has_tool + _FILE_BOOST * step.has_file
    return recency * (math.log2(accesses + 1) + 1) * richness * _confidence(step, now, accesses)


def _confidence(step: Step, now: int, accesses: int) -> float:
    """confidence = max(.1, min(1, .8 x 1.03^accesses) - .005 x hours)"""
    return max(_LEAST_CONFIDENCE, min(1.0, _CONFIDENCE * _BOOST**accesses) - _DECAY * (now - step.at) / _HOUR)


def frequent_names(case: Case, _tokens: int) -> Iterable[str]:
    """All names that occur, one a line, those in the most entries first."""
    names = Counter(name for entry in case.before for name in entities(said(entry)))
    names.update(program for call in calls(case.before) for program in programs([call]))
    return sorted(names, key=lambda name: (-names[name], name))


BASELINES: dict[str, Ranking] = {
    "last steps": last_steps,
    "seed: formula": seed_formula,
    "BM25, last prompt": bm25_on_prompt,
    "frequent names": frequent_names,
}

"""What a text is worth after a compaction, beside the summary: a list of values by measure, each 0 or 1.

* a kind of question: whether it is answered, by the summary or the text;
* **lost words**, **lost prompts**: of what the user typed before an earlier compaction, by sentences and by prompts,
  whether neither tells it;
* **said**: of what the user settled, whether one of them tells it;
* **noise**: of the text's lines, whether the agent used no name, number or command of it in its next 60 calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.exam_formula import names_in
from benchmarks.exam_questions import Sitting, tells
from benchmarks.exam_report import Result
from benchmarks.exam_untrue import Line, lines_of, untrue
from benchmarks.exam_words import Telling, earlier, is_said
from benchmarks.hindcast import OURS
from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import programs
from benchmarks.transcripts import calls, said
from unified_state.lib.tokens import count_tokens

_LEFT_OUT = re.compile(r"\(\d[\d,]* more\)|\band \d[\d,]* more\b|\bleft out\b|\bnot shown\b")


def judge(result: Result, sitting: Sitting, text: str, settled: Sequence[Sequence[str]]) -> Result:
    """A result with all that can be said of a text."""
    case = sitting.case
    whole = f"{case.summary}\n{text}"
    lines = lines_of(text)
    telling, known = Telling(whole), earlier(case)
    answered = [float(tells(case.summary, one.must) or tells(text, one.must)) for one in sitting.questions]
    judged = noise(case, lines)
    values = {
        "lost words": [float(not telling.tells(sentence)) for prompt in known for sentence in prompt.sentences],
        "lost prompts": [float(not telling.tells_prompt(prompt)) for prompt in known],
        "said": [float(is_said(whole, phrases)) for phrases in settled],
        "noise": [float(is_noise) for _, is_noise in judged],
    }
    return result._replace(
        asked=[(one.kind, f"{one.text} ({' & '.join(one.must)})") for one in sitting.questions],
        answered=answered,
        values=values,
        noise=[(line.section, float(is_noise)) for line, is_noise in judged],
        unspent=result.tokens - count_tokens([text])[0],
        left_out=_LEFT_OUT.search(text) is not None,
        untrue=untrue(case, lines) if result.method == OURS else [],
    )


def noise(case: Case, lines: Sequence[Line]) -> list[tuple[Line, bool]]:
    """Each line with whether the agent used nothing of it."""
    done = list(calls(case.after))
    written = "\n".join(said(entry) for entry in case.after if entry["type"] == "assistant")
    used, ran = names_in(written), programs(done)
    return [(line, used.isdisjoint(names_in(line.text)) and not any(run in line.text for run in ran)) for line in lines]

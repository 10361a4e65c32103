"""Exam: whether the summary and what a restore adds to it tell what the agent needed after real compactions.

    python -m benchmarks.exam FOLDER QUESTIONS [--half tune|report] [--json FILE] [--against FILE] [--reader COMMAND]

FOLDER holds transcripts of Claude Code (*.jsonl, *.jsonl.xz); benchmarks/exam_questions.py tells how QUESTIONS looks.
Without a reader it is offline and the same in every run. docs/explanation/how-it-is-measured.md tells what the measures
mean.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.exam_measures import held_rework, lines_of, noise, pieces_of, rework
from benchmarks.exam_questions import REPORT, TUNE, Sitting, find_sittings, half_of, load_questions, tells
from benchmarks.exam_readers import examine
from benchmarks.exam_report import Result, as_json, compared, tables
from benchmarks.exam_wrong import past_of, wrong_lines
from benchmarks.hindcast import OURS, SUMMARY, restored
from benchmarks.hindcast_baselines import bm25_on_prompt, last_steps, seed_formula, within
from benchmarks.hindcast_cases import Case
from unified_state.lib.tokens import count_tokens
from unified_state.settings import Settings

BASELINES = {"last turns": last_steps, "seed: formula": seed_formula, "BM25, last prompt": bm25_on_prompt}
METHODS = (SUMMARY, *BASELINES, OURS)
BUDGETS = (500, 1_000, 2_000)
READ = "... read"


def main(arguments: list[str] | None = None) -> int:
    """Ask all questions and print the tables."""
    default = Settings().restore_tokens
    parser = described(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--tokens", type=int, nargs="+", default=[*BUDGETS, default])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--half", choices=[TUNE, REPORT], help="only the questions of half of the sessions")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results, for --against")
    parser.add_argument("--against", type=Path, metavar="FILE", help="also print what differs from those results")
    parser.add_argument("--failing", action="store_true", help="also print the questions that the restore fails")
    parser.add_argument("--reader", metavar="COMMAND", help="also let this command answer, at the largest budget")
    options = parser.parse_args(arguments)
    try:
        questions = load_questions(options.questions)
        kept = half_of(list(questions), options.half)
        sittings = find_sittings(options.folder, {name: questions[name] for name in kept})
        earlier = json.loads(options.against.read_text(encoding="utf-8")) if options.against else None
        results = _results(sittings, options.tokens, options.methods, options.reader)
        printed = [tables(sittings, results)]
        printed += [compared(sittings, results, earlier)] if earlier else []
    except (OSError, RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    printed += list(_failing(sittings, results)) if options.failing else []
    print("\n\n".join(printed))
    if options.json:
        options.json.write_text(json.dumps(as_json(sittings, results)), encoding="utf-8")
    return 0


def _results(
    sittings: Sequence[Sitting], tokens: Sequence[int], methods: Sequence[str], reader: str | None
) -> list[Result]:
    """The results of all cases, by budget."""
    examined = partial(examine_case, tokens=tuple(tokens), methods=tuple(methods), reader=reader)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = [result for results in pool.map(examined, sittings) for result in results]
    return sorted(found, key=lambda result: result.tokens)


def examine_case(
    sitting: Sitting, tokens: Sequence[int], methods: Sequence[str], reader: str | None = None
) -> list[Result]:
    """What each method tells of one case, within each budget."""
    case, results = sitting.case, list[Result]()
    again, past = rework(case), past_of(case)
    for limit, method, text in texts(case, tokens, methods):
        whole = f"{case.summary}\n{text}"
        lines = list(lines_of(text))
        measures = {"rework": held_rework(again, whole), "noise": noise(pieces_of(lines, case, sitting.questions))}
        if method == OURS:  # the others tell a story, in which what has passed is followed by what came of it
            measures["wrong"] = float(len(wrong_lines(past, lines)))
        known = {name: value for name, value in measures.items() if value is not None}
        marks = [
            float(tells(case.summary, question.must) or tells(text, question.must)) for question in sitting.questions
        ]
        results.append(Result(method, limit, sitting.name, marks, known))
        if reader and limit == max(tokens):
            results.append(
                Result(f"{method}{READ}", limit, sitting.name, examine(reader, whole, sitting.questions), {})
            )
    return results


def texts(case: Case, tokens: Sequence[int], methods: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """What each method adds to the summary within each budget; the others get as many tokens as the restore used."""
    for limit, _, text in restored(case, tokens, alone=False):
        (used,) = count_tokens([text])
        for method in methods:
            if method == SUMMARY:
                yield limit, method, ""
            elif method == OURS:
                yield limit, method, text
            else:
                yield limit, method, within(BASELINES[method](case, used), used)


def _failing(sittings: Sequence[Sitting], results: Sequence[Result]) -> Iterator[str]:
    """The questions that the restore does not answer, by budget."""
    asked = {sitting.name: sitting.questions for sitting in sittings}
    for tokens in dict.fromkeys(result.tokens for result in results):
        lines = [f"not told at {tokens:,} tokens:"]
        for result in results:
            if (result.method, result.tokens) == (OURS, tokens):
                for mark, question in zip(result.marks, asked[result.case], strict=True):
                    if not mark:
                        lines.append(f"{result.case} {question.kind}: {question.text} ({' & '.join(question.must)})")
        yield "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

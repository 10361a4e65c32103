"""Exam: whether the summary and what a restore adds to it tell what the agent needed after real compactions.

    python -m benchmarks.exam FOLDER [--set 1|2] [--half look|report] [--tokens N …] [--only METHOD …] [--failing]

FOLDER holds transcripts of Claude Code in `transcripts` and `transcripts-2`, and in `exam` the `questions.json` and
`questions-2.json` about them (benchmarks/exam_questions.py tells how they look) and `said.json`, what users settled.
Offline, and the same in every run. docs/explanation/how-it-is-measured.md tells what the measures mean.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.exam_formula import formula, formula_and_words
from benchmarks.exam_measures import judge
from benchmarks.exam_questions import LOOK, REPORT, Sitting, find_sittings, half_of, load_questions
from benchmarks.exam_report import Result, compared, failing, tables
from benchmarks.exam_words import load_said
from benchmarks.hindcast import OURS, SUMMARY, restored
from benchmarks.hindcast_baselines import last_steps, within
from benchmarks.hindcast_cases import Case
from unified_state.lib.tokens import count_tokens
from unified_state.settings import Settings

SETS = {"1": ("transcripts", "questions.json"), "2": ("transcripts-2", "questions-2.json")}
SAME_SIZE, LAST, FORMULA, FORMULA_WORDS = "last turns, same size", "last turns", "formula", "formula + words"
METHODS = {
    "summary": SUMMARY,
    "same": SAME_SIZE,
    "last": LAST,
    "formula": FORMULA,
    "words": FORMULA_WORDS,
    "ours": OURS,
}


def main(arguments: list[str] | None = None) -> int:
    """Ask all questions and print the tables."""
    parser = described(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=SETS, help="only this set of sessions and questions")
    parser.add_argument("--half", choices=[LOOK, REPORT], help="only the projects to tune on, or those to report")
    parser.add_argument("--tokens", type=int, nargs="+", default=[Settings().restore_tokens])
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--failing", action="store_true", help="also print the questions that the restore fails")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results, for --against")
    parser.add_argument("--against", type=Path, metavar="FILE", help="also print what differs from those results")
    options = parser.parse_args(arguments)
    methods = [METHODS[name] for name in options.only]
    sets = [options.set] if options.set else list(SETS)
    try:
        results = [
            result
            for name in sets
            for result in examine_set(options.folder, name, options.half, options.tokens, methods)
        ]
        printed = [tables(results)]
        if options.against:
            earlier = json.loads(options.against.read_text(encoding="utf-8"))
            printed.append(compared(results, [Result(**result) for result in earlier]))
    except (OSError, TypeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    printed += [failing(results)] if options.failing else []
    print("\n\n".join(printed))
    if options.json:
        options.json.write_text(json.dumps([result._asdict() for result in results]), encoding="utf-8")
    return 0


def examine_set(
    folder: Path, name: str, half: str | None, tokens: Sequence[int], methods: Sequence[str]
) -> Iterator[Result]:
    """The results of a set, or of a half of it, session by session. A set that is not there has none."""
    transcripts, questions = SETS[name]
    if not (folder / transcripts).exists():
        return
    said = load_said(folder / "exam" / "said.json")
    found = find_sittings(folder / transcripts, load_questions(folder / "exam" / questions))
    kept = (sitting for sitting in found if half in {None, half_of(sitting.case.project)})
    for session, group in groupby(kept, key=lambda sitting: sitting.session):
        print(f"{name} {session}", file=sys.stderr)
        sittings = list(group)
        for sitting, limit, method, text in texts(sittings, tokens, methods):
            settled = said.get(session, []) if sitting is sittings[-1] else []
            yield judge(Result(name, sitting.case.project, sitting.name, method, limit), sitting, text, settled)


def texts(
    sittings: Sequence[Sitting], tokens: Sequence[int], methods: Sequence[str]
) -> Iterator[tuple[Sitting, int, str, str]]:
    """What each method adds to the summaries of a session, within each budget."""
    by_name = {sitting.case.name: sitting for sitting in sittings}
    for case, limit, _, text in restored([sitting.case for sitting in sittings], tokens, alone=False):
        for method in methods:
            yield by_name[case.name], limit, method, _text(method, case, limit, text)


def _text(method: str, case: Case, limit: int, ours: str) -> str:
    match method:
        case "summary":
            return ""
        case "unified-state":
            return ours
        case "formula":
            return formula(case, limit)
        case "formula + words":
            return formula_and_words(case, limit)
    size = count_tokens([ours])[0] if method == SAME_SIZE else limit
    return within(last_steps(case, size), size)


if __name__ == "__main__":
    sys.exit(main())

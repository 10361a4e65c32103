"""What stands in the context: a dry run of the experiment without a model or a key. It does not say what helps.

    python -m evaluation.dry_run TASKS TRANSCRIPTS [--tasks 40] [--compactions 3] [--questions FILE] [--json FILE]

TASKS is a folder of tasks, TRANSCRIPTS one of Claude Code's transcripts with compactions, from which the work between
the decision and the bug and the summaries come. docs/explanation/does-it-help.md says what the figures mean.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.arguments import described
from evaluation.arms import known_arms
from evaluation.dry_run.contexts import Outcome, outcomes, placebo_of, size_of
from evaluation.dry_run.session import play
from evaluation.dry_run.stories import decision_stories, find_works, question_stories
from evaluation.dry_run.tables import tables
from evaluation.paired import effect_lines
from evaluation.tasks import chosen, find_tasks


def main(arguments: list[str] | None = None) -> int:
    """Play the stories and print the tables."""
    parser = described(__doc__)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("--count", type=int, default=40, help="tasks at most")
    parser.add_argument("--compactions", type=int, default=3, help="a task")
    parser.add_argument("--arms", default="")
    parser.add_argument("--questions", type=Path, help="also ask these questions about the transcripts themselves")
    parser.add_argument("--client", action="store_true", help="also play one task an arm with the client itself")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every outcome")
    options = parser.parse_args(arguments)
    try:
        arms = known_arms(options.arms)
        tasks = chosen(find_tasks(options.tasks), options.count)
        stories = decision_stories(tasks, find_works(options.transcripts), options.compactions)
        asked = question_stories(options.transcripts, options.questions) if options.questions else []
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(effect_lines(len(stories))))
    found: list[Outcome] = []
    for kind in filter(None, (stories, asked)):
        found += outcomes(kind, told := play(kind), arms)
        if options.client and kind is stories:
            from evaluation.dry_run.client import client_table

            print(client_table(stories[0], arms, size_of(told[0]), placebo_of(stories, told, 0)))
    print(tables(found, arms))
    if options.json:
        options.json.write_text(json.dumps([asdict(outcome) for outcome in found], indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

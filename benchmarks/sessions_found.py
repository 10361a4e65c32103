"""Sessions found: whether search finds the earlier session that edited the files which a new issue turns out to touch.

    python -m benchmarks.sessions_found FILE [--json]

FILE holds {"sessions": {name: transcript of Claude Code}, "questions": [{"repo", "question", "sessions": [names]}]},
packed (.xz) or not. All sessions are archived as one project, and each question, the text of an issue, is searched. A
session stands where its best hit stands. Offline, and the same in every run. docs/explanation/how-it-is-measured.md
tells what the measures mean.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.arguments import described
from benchmarks.bm25 import Bm25
from benchmarks.conversations import read_json
from benchmarks.retrieval import Found, Summed, print_found
from benchmarks.temporary_project import temporary_workspace
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import count_steps
from unified_state.archive.steps import find_placed, readable
from unified_state.capture.ingest import find_transcripts, ingest
from unified_state.search.search_archive import search

Ranking = Callable[[str], Sequence[str]]

_CUTOFFS = (1, 3, 5, 10)
_HITS = 200  # steps, of which the first of each session counts
_NOW = 1_800_000_000_000
_AT_ONCE = 500  # steps read


def main(arguments: list[str] | None = None) -> int:
    """Ask all questions of a file and print the table."""
    parser = described(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found = list(ask(read_json(options.file)))
    print_found(found, Summed("issues", ("issue",)), ["unified-state"], as_json=options.json)
    return 0


def ask(told: dict[str, Any]) -> Iterator[Found]:
    """Each method on each question."""
    names = sorted(told["sessions"])
    with temporary_workspace() as (workspace, folder), ExitStack() as stack:
        for name, transcript in told["sessions"].items():
            (folder / f"{name}.jsonl").write_text(transcript, encoding="utf-8")
        ingest(workspace, find_transcripts([str(folder)]), _NOW, lambda _: None)
        steps = workspace.use(lambda archive: dict(_steps(archive)))
        index = stack.enter_context(Bm25([text for _, text in steps.values()]))
        sessions = [session for session, _ in steps.values()]

        def searched(question: str) -> Sequence[str]:
            hits = workspace.use(lambda archive: search(archive, question, _HITS, now=_NOW))
            return [hit.session_id or "" for hit in hits]

        methods: dict[str, Ranking] = {
            "random": lambda question: random.Random(question).sample(names, len(names)),
            "BM25": lambda question: [sessions[number] for number in index.ranked(question, _HITS)],
            "unified-state": searched,
        }
        for question in told["questions"]:
            for method, rank in methods.items():
                yield Found(method, "issue", scores(rank(question["question"]), question["sessions"]))


def scores(ranked: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """Whether one of the wanted sessions is among the first, and one over the place of the first that is. A session's
    id begins with its name.
    """
    best = list(dict.fromkeys(ranked))
    first = next((place for place, one in enumerate(best, 1) if one.startswith(tuple(wanted))), None)
    hits = {f"hit@{cutoff}": float(first is not None and first <= cutoff) for cutoff in _CUTOFFS}
    return {**hits, "MRR": 1 / first if first else 0.0}


def _steps(archive: Archive) -> Iterator[tuple[int, tuple[str, str]]]:
    """Each step that an index has, with its session and its text."""
    last = count_steps(archive)
    for begin in range(1, last + 1, _AT_ONCE):
        found = find_placed(archive, range(begin, min(last + 1, begin + _AT_ONCE)))
        for number, placed in found.items():
            yield number, (placed.session_id, readable(placed.step))


if __name__ == "__main__":
    sys.exit(main())

"""LoCoMo: whether search finds the turns that hold the answer to a question, in conversations over many sessions.

    python -m benchmarks.locomo FILE [--json] [--walk] [--vectors off|static|minilm …]

FILE is locomo10.json as its authors publish it, packed (.xz) or not. Each conversation is archived as a project of its
own. Offline, and the same in every run. With --vectors, search is also asked with the meaning that a model sees. The
first of several is what the others are compared with, question by question. docs/explanation/how-it-is-measured.md
tells what the measures mean.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.arguments import described
from benchmarks.averages import average
from benchmarks.bm25 import Bm25
from benchmarks.locomo_data import CATEGORIES, Conversation, Question, load_conversations, write_transcripts
from benchmarks.temporary_project import temporary_workspace
from benchmarks.walk import NODES, Node, walked
from unified_state.capture.ingest import find_transcripts, ingest
from unified_state.lib.times import to_milliseconds
from unified_state.search.query_meaning import open_reader
from unified_state.search.search_archive import search
from unified_state.search.vectors.embed_steps import embed
from unified_state.setting_table import MINILM, OFF, STATIC

Ranking = Callable[[Question], Sequence[str]]
Search = Callable[[Question, int, str], dict[str, float]]

CUTOFFS = (1, 5, 10, 20)
_SUMMED = (1, 2, 3, 4)  # the categories that have an answer
_ALL = "categories 1-4"
_NAME_WIDTH, _WIDTH = 16, 15


class Found(NamedTuple):
    """How one method did on one question."""

    method: str
    category: int
    scores: dict[str, float]


def main(arguments: list[str] | None = None) -> int:
    """Ask all questions of a file and print the tables."""
    parser = described(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--walk", action="store_true", help="also order the hits by a random walk between them")
    parser.add_argument(
        "--vectors", nargs="+", choices=[OFF, STATIC, MINILM], default=[OFF], help="what search goes by, beside words"
    )
    options = parser.parse_args(arguments)
    found: list[Found] = []
    for conversation in load_conversations(options.file):
        print(f"{conversation.name}: {len(conversation.questions)} questions", file=sys.stderr)
        found += ask(conversation, options.vectors, walks=options.walk)
    if options.json:
        print(json.dumps(list(_as_json(found)), indent=1))
    else:
        print("\n\n".join([*_tables(found), *_differences(found, list(map(_named, options.vectors)))]))
    return 0


def ask(conversation: Conversation, models: Sequence[str] = (OFF,), *, walks: bool = False) -> Iterator[Found]:
    """Each method on each question of a conversation."""
    with product(conversation, models) as searched, Bm25([turn.line for turn in conversation.turns]) as index:
        ids = [turn.id for turn in conversation.turns]
        newest = ids[: -CUTOFFS[-1] - 1 : -1]
        methods: dict[str, Ranking] = {
            "random": lambda question: random.Random(question.text).sample(ids, len(newest)),
            "recency": lambda _: newest,
            "BM25": lambda question: [ids[number] for number in index.ranked(question.text, CUTOFFS[-1])],
            **{_named(model): _first_found(searched, model) for model in models},
        }
        if walks:
            methods["... with a walk"] = _walking(conversation, searched)
        for question in conversation.questions:
            for name, rank in methods.items():
                yield Found(name, question.category, scores(rank(question), question.evidence))


def _named(model: str) -> str:
    return "unified-state" if model == OFF else f"... {model}"


def _first_found(searched: Search, model: str) -> Ranking:
    return lambda question: list(searched(question, CUTOFFS[-1], model))


@contextmanager
def product(conversation: Conversation, models: Sequence[str] = (OFF,)) -> Iterator[Search]:
    """The product's search over the archived conversation, with each of the models: the turns it finds with their
    scores, the best first.
    """
    with temporary_workspace() as (workspace, folder):
        turn_of = write_transcripts(conversation, folder)
        now = to_milliseconds(conversation.turns[-1].at.isoformat()) or 0
        ingest(workspace, find_transcripts([str(folder)]), now, lambda _: None)

        for model in models:
            if model != OFF:
                embed(workspace, model, None, lambda _total: lambda _count: None)

        def searched(question: Question, limit: int, model: str) -> dict[str, float]:
            reader = None if model == OFF else open_reader(model)
            hits = workspace.use(lambda archive: search(archive, question.text, limit, reader=reader))
            return {turn_of[uuid]: hit.score for hit in hits for uuid in hit.uuids}

        yield searched


def _walking(conversation: Conversation, searched: Search) -> Ranking:
    """The product's hits, ordered anew by a walk between them."""
    places = {turn.id: place for place, turn in enumerate(conversation.turns)}

    def rank(question: Question) -> list[str]:
        found = searched(question, NODES, OFF)
        turns = [conversation.turns[places[turn]] for turn in found]
        nodes = [Node(found[turn.id], turn.session, places[turn.id], turn.line) for turn in turns]
        return [turns[index].id for index in walked(nodes)]

    return rank


def scores(ranked: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """The share of the evidence among the first turns, and one over the place of the first that is evidence."""
    recalls = {f"R@{cutoff}": len(evidence.intersection(ranked[:cutoff])) / len(evidence) for cutoff in CUTOFFS}
    first = next((place for place, turn in enumerate(ranked[: CUTOFFS[-1]], 1) if turn in evidence), None)
    return {**recalls, "MRR": 1 / first if first else 0.0}


def _groups(found: Sequence[Found]) -> Iterator[tuple[str, list[Found]]]:
    """All that counts, then each category by itself."""
    yield _ALL, [one for one in found if one.category in _SUMMED]
    for category, name in CATEGORIES.items():
        of_category = [one for one in found if one.category == category]
        if of_category:
            yield name, of_category


def _tables(found: Sequence[Found]) -> Iterator[str]:
    for name, group in _groups(found):
        measures = list(group[0].scores) if group else []
        count = sum(one.method == group[0].method for one in group)
        lines = [f"{name}, {count} questions: mean and its 95 % interval", _row("", measures)]
        for method in dict.fromkeys(one.method for one in group):
            own = [one.scores for one in group if one.method == method]
            lines.append(_row(method, [str(average([score[measure] for score in own])) for measure in measures]))
        yield "\n".join(lines)


def _differences(found: Sequence[Found], methods: Sequence[str]) -> Iterator[str]:
    """How much better each method is than the first of them, question by question."""
    for method in methods[1:]:
        lines = [f"{method} over {methods[0]}: mean difference and its 95 % interval"]
        for name, group in _groups(found):
            before, after = ([one.scores for one in group if one.method == which] for which in (methods[0], method))
            differences = {
                measure: average([new[measure] - old[measure] for old, new in zip(before, after, strict=True)])
                for measure in before[0]
            }
            shown = (
                f"{measure} {one.mean:+.3f} {one.low:+.3f} to {one.high:+.3f}" for measure, one in differences.items()
            )
            lines.append(f"{name:{_NAME_WIDTH}}{'   '.join(shown)}")
        yield "\n".join(lines)


def _as_json(found: Sequence[Found]) -> Iterator[dict[str, Any]]:
    for name, group in _groups(found):
        for method in dict.fromkeys(one.method for one in group):
            own = [one.scores for one in group if one.method == method]
            measures = {measure: asdict(average([score[measure] for score in own])) for measure in own[0]}
            yield {"questions": name, "method": method, "measures": measures}


def _row(name: str, columns: Sequence[str]) -> str:
    return f"{name:{_NAME_WIDTH}}{' '.join(column.ljust(_WIDTH) for column in columns)}".rstrip()


if __name__ == "__main__":
    sys.exit(main())

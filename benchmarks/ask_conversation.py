"""Each method of search on each question about a conversation, which is archived as a project of its own."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.bm25 import Bm25
from benchmarks.conversations import Conversation, Question, write_transcripts
from benchmarks.minilm_folder import minilm_folder
from benchmarks.retrieval import CUTOFFS, Found, Summed, print_found, scores
from benchmarks.temporary_project import temporary_workspace
from unified_state.capture.ingest import find_transcripts, ingest
from unified_state.extras.vectors.embed_steps import embed
from unified_state.extras.vectors.query_meaning import open_reader
from unified_state.lib.times import to_milliseconds
from unified_state.search.search_archive import search
from unified_state.setting_table import MINILM, OFF

Ranking = Callable[[Question], Sequence[str]]
Search = Callable[[Question, int, str], dict[str, float]]


def main(
    about: str | None, load: Callable[[Path], Sequence[Conversation]], summed: Summed, arguments: list[str] | None
) -> int:
    """The command of a benchmark: ask all questions of a file and print the tables."""
    parser = described(about)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--half", choices=["tune", "report"], help="every second conversation alone")
    parser.add_argument(
        "--vectors", nargs="+", choices=[OFF, MINILM], default=[OFF], help="what search goes by, beside words"
    )
    options = parser.parse_args(arguments)
    conversations = load(options.file)
    if options.half:
        conversations = conversations[options.half == "report" :: 2]
    found: list[Found] = []
    for conversation in conversations:
        print(f"{conversation.name}: {len(conversation.questions)} questions", file=sys.stderr)
        found += ask(conversation, options.vectors)
    print_found(found, summed, list(map(method_of, options.vectors)), as_json=options.json)
    return 0


def ask(conversation: Conversation, models: Sequence[str] = (OFF,)) -> Iterator[Found]:
    """Each method on each question of a conversation."""
    with product(conversation, models) as searched, Bm25([turn.line for turn in conversation.turns]) as index:
        ids = [turn.id for turn in conversation.turns]
        newest = ids[: -CUTOFFS[-1] - 1 : -1]
        methods: dict[str, Ranking] = {
            "random": lambda question: random.Random(question.text).sample(ids, len(newest)),
            "recency": lambda _: newest,
            "BM25": lambda question: [ids[number] for number in index.ranked(question.text, CUTOFFS[-1])],
            **{method_of(model): _first_found(searched, model) for model in models},
        }
        for question in conversation.questions:
            for name, rank in methods.items():
                yield Found(name, question.category, scores(rank(question), question.evidence))


def method_of(model: str) -> str:
    """The product with one of the models, as tables name it."""
    return "unified-state" if model == OFF else f"... {model}"


def _first_found(searched: Search, model: str) -> Ranking:
    return lambda question: list(searched(question, CUTOFFS[-1], model))


@contextmanager
def product(conversation: Conversation, models: Sequence[str] = (OFF,)) -> Iterator[Search]:
    """The product's search over the archived conversation, with each of the models: the turns it finds with their
    scores, the best first.
    """
    with temporary_workspace() as (workspace, folder):
        if MINILM in models:
            workspace.settings.minilm_folder = minilm_folder()
        turn_of = write_transcripts(conversation, folder)
        now = to_milliseconds(conversation.turns[-1].at.isoformat()) or 0
        ingest(workspace, find_transcripts([str(folder)]), now, lambda _: None)

        for model in models:
            if model != OFF:
                embed(workspace, None, lambda _total: lambda _count: None)

        def searched(question: Question, limit: int, model: str) -> dict[str, float]:
            reader = None if model == OFF else open_reader(workspace.settings.minilm_folder)
            hits = workspace.use(lambda archive: search(archive, question.text, limit, reader=reader))
            return {turn_of[uuid]: hit.score for hit in hits for uuid in hit.uuids}

        yield searched

"""A search of many archives ranks their steps as if one archive had them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.builders import NOW
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters
from unified_state.archive.sessions import touch_session
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.text import pack
from unified_state.model.step import PROMPT, TEXT, Hit, Step
from unified_state.search.search_archive import search
from unified_state.search.search_archives import Search, search_archives

Write = Callable[..., str]
OTHERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write sessions, each the texts of its steps, into an archive, and return its path."""

    def write(name: str, *sessions: Sequence[str], first: int = 0) -> str:
        path = str(tmp_path / f"{name}.db")
        with Archive(path) as archive, archive.transaction(durable=False):
            for number, texts in enumerate(sessions, first):
                writer = StepWriter(archive, touch_session(archive, f"session-{number}", NOW), None)
                for place, text in enumerate(texts):
                    uuid = f"{number:08x}-0000-4000-8000-{place:012x}"
                    kind = PROMPT if place % 5 == 0 else TEXT
                    step = Step(uuid=uuid, block=0, kind=kind, at=NOW + place, text=text, starts_turn=place % 5 == 0)
                    writer.add(step, pack(step.text))
        return path

    return write


def found(paths: list[str], query: str, limit: int = 10) -> list[tuple[str, Hit]]:
    hits, problems = search_archives(paths, Search(query, limit, None, Filters(), NOW, lambda _archive: None, None))
    assert problems == []
    return hits


def sessions(count: int) -> list[list[str]]:
    """Sessions in which some steps, of any length, have some of three words, some of them often."""
    written = []
    for number in range(count):
        texts = [" ".join(OTHERS[(number + place * step) % 10] for step in range(3 + place)) for place in range(20)]
        texts[number % 20] += " parser" * (1 + number % 3)
        texts[(number * 7) % 20] += " retry" if number % 3 else " retry of the schema"
        written.append(texts)
    return written


@pytest.mark.parametrize("query", ["parser", "the parser retry of yesterday"])
def test_hits_and_scores_are_those_of_one_archive_that_has_all(write: Write, query: str) -> None:
    many = sessions(24)
    paths = [write(f"{number}", texts, first=number) for number, texts in enumerate(many)]
    with Archive(write("all", *many)) as archive:
        expected = search(archive, query, 10, now=NOW)
    assert [(hit.uuids, hit.session_id, hit.score, hit.coverage, hit.snippet) for _, hit in found(paths, query)] == [
        (hit.uuids, hit.session_id, hit.score, hit.coverage, hit.snippet) for hit in expected
    ]


def test_of_a_long_query_the_rare_words_of_all_archives_count(write: Write) -> None:
    frames = [f"frame{number}" for number in range(200)]
    busy = [[f"{frame} is busy", *OTHERS] for frame in frames[:20] * 3]
    paths = [write("busy", *busy), write("rare", ["the zanzibar lock is never freed", *OTHERS], first=60)]
    assert found(paths, " ".join([*frames, "zanzibar", "lock"]), 3)[0][0] == paths[1]


def test_a_word_that_most_steps_of_an_archive_have_counts_there_as_anywhere(write: Write) -> None:
    about = [f"kafka {word} kafka" for word in OTHERS]
    elsewhere = [write(f"{number}", [f"{' '.join(OTHERS * 5)} kafka", *OTHERS], first=number) for number in range(20)]
    hits = found([*elsewhere, path := write("kafka", about, first=99)], "kafka")
    assert {of for of, _ in hits} == {path}


def test_texts_are_read_of_the_best_candidates_of_all_alone(write: Write) -> None:
    paths = [write(f"{number}", ["parser"] * 50, first=number) for number in range(5)]
    worse = write("worse", [f"{' '.join(OTHERS * 9)} parser"] * 50, first=99)
    with Archive(worse) as archive:
        archive.run("UPDATE step SET body = x'00'")
    assert len(found([worse, *paths], "parser")) == 10

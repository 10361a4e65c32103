"""Archives for benchmarks, of a few hundred steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.long_archive import word, write_archive
from benchmarks.side_by_side import Contender, ratio
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import count_having, count_steps
from unified_state.archive.steps import find_step

STEPS = 600


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive."""
    path = tmp_path_factory.mktemp("long") / "archive.db"
    write_archive(path, STEPS)
    return path


def test_the_same_number_of_steps_is_the_same_archive(path: Path, tmp_path: Path) -> None:
    write_archive(tmp_path / "archive.db", STEPS)
    with Archive(str(path)) as one, Archive(str(tmp_path / "archive.db")) as other:
        assert count_steps(one) == STEPS
        assert all(find_step(one, number) == find_step(other, number) for number in range(1, STEPS + 1))


def test_words_are_as_frequent_as_their_ranks_say(path: Path) -> None:
    with Archive(str(path)) as archive:
        counts = list(count_having(archive, [word(rank) for rank in (5, 50, 5_000)], STEPS).values())
    assert counts == sorted(counts, reverse=True)


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    first, own = Contender("first", [], seconds=[1.0, 2.0, 1.0]), Contender("own", [], seconds=[3.0, 2.0, 2.0])
    assert ratio(own, first) == 2

"""Every input that the campaign ever kept still breaks nothing, and what it broke once is a test of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.amount import amount
from tests.campaign.fuzz import temporary_world
from tests.campaign.kind_table import KINDS
from tests.campaign.places import changed_everywhere
from tests.campaign.world import World

CORPUS = Path(__file__).parent / "corpus"
MOST_BYTES = 1_000_000
EVERY_INPUT, EVERY_PLACE = amount(1, 4), amount(15, 401)  # read here, because a world has an environment of its own


@pytest.fixture(scope="module")
def made(homes: Iterator[Path]) -> Iterator[World]:
    """A world for all inputs, which are put back one by one."""
    before, folder = dict(os.environ), os.getcwd()
    with temporary_world() as world:
        os.environ.clear()
        os.environ.update(before)
        yield world
    os.chdir(folder)


@pytest.fixture
def world(made: World, home: Path) -> Iterator[World]:
    """That world, entered for one test."""
    before, folder = dict(os.environ), os.getcwd()
    made.enter()
    yield made
    os.environ.clear()
    os.environ.update(before)
    os.chdir(folder)
    tempfile.tempdir = None


def inputs(kind: str) -> list[bytes]:
    """The seeds of a kind and the corpus of the repository: all in continuous integration, else every fourth."""
    folder = CORPUS / kind.lower().replace(" ", "-")
    kept = [path.read_bytes() for path in sorted(folder.glob("*"))]
    return [*KINDS[kind].seeds(), *kept][::EVERY_INPUT]


@pytest.mark.parametrize("kind", KINDS)
def test_no_input_of_the_corpus_breaks_a_promise(world: World, kind: str) -> None:
    for data in inputs(kind):
        world.meet(KINDS[kind].meet, data)


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_meets_whole_processes_with_the_same_promises(world: World, kind: str) -> None:
    world.is_whole = True
    try:
        world.meet(KINDS[kind].meet, KINDS[kind].seeds()[0])
    finally:
        world.is_whole = False


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_at_a_place_of_a_seed_breaks_a_promise(world: World, kind: str) -> None:
    """Each kind begins at another place, so that runs of one value do not always meet the same."""
    tried = list(dict.fromkeys(data for seed in KINDS[kind].seeds() for data in changed_everywhere(seed)))
    for data in tried[len(kind) :: EVERY_PLACE]:
        world.meet(KINDS[kind].meet, data)


def test_the_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < MOST_BYTES

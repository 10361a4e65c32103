from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import step, texts
from tests.team.postgres.test_tenancy import claim
from unified_state.model.history_records import HistoryQuery

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs

UNSAID = "ibex okapi quokka narwhal axolotl pangolin wombat numbat dugong"


def test_words_that_nobody_said_do_not_hide_the_one_that_was(
    open_as: OpenAs, organisation: str, postgres: PostgresServer
) -> None:
    store = open_as("ada")
    store.append([step(number, f"deployed service {number}") for number in range(1, 400)])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        # As in a large project: each unknown word may stand in hundreds of steps, and there are too many of these
        # words.
        connection.execute("UPDATE unified_state.volume SET steps = 1000000 WHERE project = unified_state.project()")
    found = texts([hit.step for hit in store.search(HistoryQuery(text=f"{UNSAID} deployed"))])
    assert len(found) == 10
    assert found[0].startswith("deployed")


def test_words_are_counted_over_the_whole_project(open_as: OpenAs, organisation: str, postgres: PostgresServer) -> None:
    early = [step(number, "the lemur deploys", session_id="early") for number in range(1, 5_001)]
    late = [step(number, "the walrus deploys", session_id="late") for number in range(5_001, 10_001)]
    open_as("ada").append([*early, *late])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        counted = dict(connection.execute("SELECT word, share FROM unified_state.common_word").fetchall())
    assert {word: round(share, 1) for word, share in counted.items()} == {
        "lemur": 0.5,
        "walrus": 0.5,
        "deploy": 1,
        "the": 1,
    }


@pytest.mark.parametrize("late", [0, 3, 300])
def test_of_a_word_that_is_neither_rare_nor_common_the_newest_are_found(
    open_as: OpenAs, organisation: str, postgres: PostgresServer, late: int
) -> None:
    """Where the last times have enough of it no others are looked at; where they have few all are."""
    store = open_as("ada")
    store.append([step(number, "the lemur deploys") for number in range(1, 401)])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("UPDATE unified_state.numbering SET last = 400000 WHERE project = unified_state.project()")
    store.append([step(number, "the lemur returns") for number in range(1_000, 1_000 + late)] + [step(9_999, "other")])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("UPDATE unified_state.volume SET steps = 400000")
        connection.execute("UPDATE unified_state.common_word SET share = 0.02")
    found = texts([hit.step for hit in store.search(HistoryQuery(text="lemur", limit=50))])
    assert len(found) == 50
    assert found.count("the lemur returns") == min(late, 50)


@pytest.mark.parametrize("both", [3, 300])
@pytest.mark.parametrize("steps", [1_300, 1_000_000])
def test_what_holds_all_words_is_found_first_be_it_rare_or_frequent(
    open_as: OpenAs, organisation: str, postgres: PostgresServer, both: int, steps: int
) -> None:
    store = open_as("ada")
    store.append([step(number, "the lemur and the walrus") for number in range(1, both + 1)])
    store.append([step(number, "a walrus") for number in range(1_000, 1_500)])
    store.append([step(number, "a lemur") for number in range(2_000, 2_500)])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("UPDATE unified_state.volume SET steps = %s", [steps])
    found = texts([hit.step for hit in store.search(HistoryQuery(text="lemur walrus", limit=6))])
    assert found[:3] == ["the lemur and the walrus"] * 3
    assert len(found) == 6

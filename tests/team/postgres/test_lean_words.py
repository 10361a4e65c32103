"""The server keeps no places of words that stand once in a step, and finds and ranks steps as if it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import step, texts
from tests.team.postgres.test_tenancy import claim
from unified_state.model.history_records import HistoryQuery

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs

TEXT = "the retry of the export, and the retry's budget: retry it 3 times"


def test_the_places_of_a_word_that_stands_once_are_not_kept(
    open_as: OpenAs, organisation: str, postgres: PostgresServer
) -> None:
    open_as("ada").append([step(1, TEXT)])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("SELECT unified_state.tell('unified_state.wanted', 'export')")
        rows = connection.execute(
            "SELECT lexeme, positions FROM unified_state.step_words, unnest(words) WHERE lexeme NOT LIKE '@%'"
        ).fetchall()
    assert {lexeme for lexeme, positions in rows if positions is not None} == {"the", "retri"}
    assert {"export", "budget", "3"} <= {lexeme for lexeme, positions in rows if positions is None}


def test_a_step_ranks_as_it_did_with_all_places(postgres: PostgresServer, open_as: OpenAs) -> None:
    open_as("ada")
    with postgres.connect() as connection:
        rows = connection.execute(
            "SELECT word, ts_rank(whole, word::tsquery, 1), ts_rank(unified_state.lean(whole), word::tsquery, 1) "
            "FROM to_tsvector('unified_state.words', %s) AS whole, "
            "unnest(ARRAY['retri', 'export', 'the', '3', 'bud:*', 'nobody']) AS word",
            [TEXT],
        ).fetchall()
    assert [kept for _, kept, _ in rows] == [lean for _, _, lean in rows]
    assert sum(kept > 0 for _, kept, _ in rows) == 5


@pytest.mark.parametrize("word", ["5e10abc", "12e45cd", "3d", "0x1f", "v2", "1e5"])
def test_a_word_that_the_servers_parser_takes_for_two_is_found(open_as: OpenAs, word: str) -> None:
    store = open_as("ada")
    store.append([step(1, f"since {word} it fails"), step(2, "since then it works")])
    assert texts([hit.step for hit in store.search(HistoryQuery(text=word))]) == [f"since {word} it fails"]


def test_a_step_from_before_is_found_beside_a_new_one(
    open_as: OpenAs, organisation: str, postgres: PostgresServer
) -> None:
    store = open_as("ada")
    store.append([step(1, "the lemur of old")])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("SELECT unified_state.tell('unified_state.wanted', 'lemur')")
        connection.execute(
            "UPDATE unified_state.step_words SET words = to_tsvector('unified_state.words', 'the lemur of old') "
            "|| array_to_tsvector(ARRAY[unified_state.tenant(project), unified_state.era(project, number)])"
        )
    store.append([step(2, "the lemur of old")])
    found = store.search(HistoryQuery(text="lemur"))
    assert len(found) == 2
    assert found[0].score == found[1].score

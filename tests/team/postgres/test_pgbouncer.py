"""Through PgBouncer in transaction mode, with one connection to the server for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.contracts import CONTRACTS, Contract
from tests.contracts.contract import session, step, steps_of, turn, uuid
from tests.pgbouncer import need_pgbouncer, pooling
from tests.postgres_server import OWNER, PostgresServer
from tests.team.postgres.test_tenancy import SECRET, claim, count_all
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import HistoryQuery
from unified_state.team.postgres.postgres_store import open_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.team.postgres.conftest import OpenAs


@pytest.fixture(scope="module")
def pooled(postgres: PostgresServer) -> Iterator[dict[str, Any]]:
    """How to reach the server through a pool."""
    need_pgbouncer()
    with pooling(postgres, [OWNER], 1) as parameters:
        yield parameters


@pytest.fixture
def by_hand(postgres: PostgresServer, pooled: dict[str, Any]) -> Iterator[psycopg.Connection[Any]]:
    """A connection of somebody who sends what he likes through the same pool."""
    with psycopg.connect(postgres.dsn(**pooled), autocommit=True, prepare_threshold=None) as connection:
        connection.execute("RESET ALL")  # what another test set by hand is still there
        yield connection


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: f"{contract.number:02}-{contract.check.__name__}")
def test_every_contract_is_kept_through_a_pool(
    postgres: PostgresServer, pooled: dict[str, Any], organisation: str, contract: Contract
) -> None:
    dsn = postgres.dsn(**pooled)
    contract.check(lambda project: open_postgres(dsn, project, organisation=organisation, member="ada"))


def test_who_shares_a_connection_with_another_member_reads_nothing_of_hers(
    pooled: dict[str, Any], by_hand: psycopg.Connection[Any], open_as: OpenAs, organisation: str
) -> None:
    ada, bob = open_as("ada", **pooled), open_as("bob", of=f"{organisation}-2", **pooled)
    for number in range(20):  # each of her transactions, then his, on the one connection that there is
        ada.append([*SECRET, step(200 + number)])
        assert ada.search(HistoryQuery("swordfish"))
        assert bob.search(HistoryQuery("swordfish")) == []
        assert list(everything(bob)) == []
        assert bob.find_steps(uuid(1)) + bob.find_items("D1") == []
        by_hand.execute("SET unified_state.wanted = '!nothing'")
        assert count_all(by_hand) == {}


def test_what_another_one_set_for_the_whole_session_deceives_nobody(
    pooled: dict[str, Any], by_hand: psycopg.Connection[Any], open_as: OpenAs, organisation: str
) -> None:
    ada, bob = open_as("ada", **pooled), open_as("bob", of=f"{organisation}-2", **pooled)
    ada.append(SECRET)
    claim(by_hand, organisation, "p", "ada")
    by_hand.execute("SET search_path = public; SET lock_timeout = '1ms'; SET jit = on")
    assert bob.search(HistoryQuery("swordfish")) == []
    assert list(everything(bob)) == []
    bob.append([session("his"), *turn(900, "his")])
    assert steps_of(bob, "his") == turn(900, "his")
    assert steps_of(ada, "his") == []

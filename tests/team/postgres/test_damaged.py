"""What the server's disk or somebody's hand has damaged is told, ends nothing else, and can be mended."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import decision, step, steps_of, texts
from tests.postgres_kinds import programs_of
from tests.postgres_server import PostgresServer, start_again, start_server, stop_server
from tests.team.postgres.test_tenancy import claim
from unified_state.errors import StorageError
from unified_state.lib.text import UNREADABLE
from unified_state.model.history_records import HistoryQuery
from unified_state.team.postgres.postgres_store import open_postgres

if TYPE_CHECKING:
    from tests.team.postgres.conftest import OpenAs


@pytest.fixture(params=["bundled", "debian"])  # with checksums of its pages and without
def own_server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """A server that the test may stop; in a short path, since a socket's cannot be long."""
    folder = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"damaged-{request.param}-{os.getpid()}"
    folder.parent.mkdir(exist_ok=True)
    yield start_server(folder, programs_of(request.param))
    stop_server(folder)


def test_a_damaged_index_is_told_nothing_is_added_and_it_can_be_made_anew(own_server: PostgresServer) -> None:
    with open_postgres(own_server.dsn(), "p", organisation="acme", member="ada") as store:
        store.append([step(1), step(2)])
    with own_server.connect() as connection:
        (name,) = connection.execute("SELECT pg_relation_filepath('unified_state.session_pkey')").fetchone() or ("",)
    stop_server(own_server.folder, signal.SIGINT)
    path = own_server.folder / name
    path.write_bytes(b"\xa5" * path.stat().st_size)
    start_again(own_server.folder)
    store = open_postgres(own_server.dsn(), "p", organisation="acme", member="ada")
    with pytest.raises(StorageError, match=r"invalid page|corrupted page|is not a btree") as raised:
        store.append([step(2), step(3)])
    assert "REINDEX" in raised.value.hint
    assert "nothing is lost" in raised.value.hint
    with own_server.connect() as connection:
        connection.execute("REINDEX SCHEMA unified_state")
    assert store.append([step(2), step(3)]) == 1
    assert steps_of(store) == [step(1), step(2), step(3)]
    store.close()


def spoil(postgres: PostgresServer, organisation: str, statement: str) -> None:
    """Change a row of ada's by hand."""
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        assert connection.execute(statement).rowcount == 1


def test_a_text_that_was_damaged_is_shown_as_that_and_hides_no_other(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    store = open_as()
    store.append([step(1, "the swordfish"), step(2, "another swordfish")])
    spoil(postgres, organisation, "UPDATE unified_state.step SET body = 'x' WHERE number % 2 = 0")
    found = texts([hit.step for hit in store.search(HistoryQuery("swordfish"))])
    assert len(found) == 2
    assert UNREADABLE in found


@pytest.mark.parametrize("record", ["{", "[1]", "5"])
def test_a_record_that_was_damaged_is_told(
    postgres: PostgresServer, open_as: OpenAs, organisation: str, record: str
) -> None:
    store = open_as()
    store.append([decision(1, "D1")])
    spoil(postgres, organisation, f"UPDATE unified_state.item SET record = '{record}'")
    with pytest.raises(StorageError, match="a record on the server is damaged"):
        store.find_items("D1")

"""A streaming replica: what only reads asks it, what writes goes to the primary, whichever the DSN names first."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.contract import session, steps_of, turn
from tests.postgres_server import OWNER, PostgresServer, start_replica, start_server, stop_server
from unified_state.model.history_records import HistoryQuery
from unified_state.team.postgres.postgres_store import PostgresStore, open_postgres
from unified_state.team.postgres.server_dsn import find_server

_STANDBY = "SELECT pg_is_in_recovery()"


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    """A primary and its replica."""
    folder = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"pair-{os.getpid()}"
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    primary = start_server(folder / "primary")
    replica = start_replica(primary, folder / "replica")
    yield primary, replica
    stop_server(replica.folder)
    stop_server(primary.folder)


def open_pair(servers: list[PostgresServer], **how: Any) -> PostgresStore:
    hosts, ports = ",".join(str(one.folder) for one in servers), ",".join(str(one.port) for one in servers)
    dsn = f"host={hosts} port={ports} dbname=shared user={OWNER}"
    return open_postgres(dsn, "p", organisation="acme", member="ada", **how)


def test_a_search_of_the_team_asks_the_replica_and_a_sync_the_primary(
    pair: tuple[PostgresServer, PostgresServer],
) -> None:
    for order in (list(pair), list(reversed(pair))):
        with open_pair(order) as writing:
            writing.append([session(), *turn(1)])
            assert writing._rows(_STANDBY) == [(False,)]
        _wait_for(pair)
        with open_pair(order, only_reads=True) as reading:
            assert reading._rows(_STANDBY) == [(True,)]
            assert steps_of(reading) == turn(1)
            assert reading.search(HistoryQuery("tests"))


def test_without_a_replica_the_primary_answers(pair: tuple[PostgresServer, PostgresServer]) -> None:
    with open_pair([pair[0], PostgresServer(pair[0].folder)], only_reads=True) as reading:
        assert reading._rows(_STANDBY) == [(False,)]


@pytest.mark.parametrize(
    ("dsn", "only_reads", "attributes"),
    [
        ("host=a,b dbname=x", False, "read-write"),
        ("host=a,b dbname=x", True, "prefer-standby"),
        ("host=a dbname=x", True, "any"),
        ("host=a,b dbname=x target_session_attrs=standby", False, "standby"),
    ],
)
def test_the_dsn_decides_and_no_variable(dsn: str, only_reads: bool, attributes: str) -> None:
    environ = {"PGTARGETSESSIONATTRS": "standby"}
    server = find_server(dsn, environ, trusts_environment=True, only_reads=only_reads)
    assert server.parameters["target_session_attrs"] == attributes


def _wait_for(pair: tuple[PostgresServer, PostgresServer]) -> None:
    """Wait until the replica has what the primary has."""
    with pair[0].admin() as primary, pair[1].admin() as replica:
        (written,) = primary.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
        replayed = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        while replica.execute(replayed, [written]).fetchone() != (True,):
            time.sleep(0.02)

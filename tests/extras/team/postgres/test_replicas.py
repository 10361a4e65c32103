"""A streaming replica: what only reads asks it, what writes goes to the primary, whichever the DSN names first."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.contract import session, turn
from tests.extras.team.team import found, send
from tests.postgres_server import PostgresServer, start_replica, start_server, stop_server
from unified_state.extras.team.postgres.record_store import TeamStore
from unified_state.extras.team.postgres.server_dsn import find_server
from unified_state.extras.team.postgres.set_up_server import Admission, admit_member, init_server

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


def open_pair(servers: list[PostgresServer], login: str, **how: Any) -> TeamStore:
    hosts, ports = ",".join(str(one.folder) for one in servers), ",".join(str(one.port) for one in servers)
    dsn = f"host={hosts} port={ports} dbname=team user={login}"
    return TeamStore(find_server(dsn, {}, trusts_environment=False, **how), "acme", "p", begins=not how)


def test_a_search_of_the_team_asks_the_replica_and_a_sync_the_primary(
    pair: tuple[PostgresServer, PostgresServer],
) -> None:
    server = found(pair[0].dsn("team", "postgres"))
    init_server(server)
    login = str(admit_member(server, Admission("acme", "ada"))["role"])
    for order in (list(pair), list(reversed(pair))):
        with open_pair(order, login) as writing:
            send(writing, session(), *turn(1))
            assert writing.rows(_STANDBY) == [(False,)]
        _wait_for(pair)
        with open_pair(order, login, only_reads=True) as reading:
            assert reading.rows(_STANDBY) == [(True,)]
            assert len(list(reading.own_records())) == len(turn(1)) + 1
            assert reading.candidates("'test'", {"'test'": 1.0}, None, 9)
    with open_pair([pair[0], pair[0]], login, only_reads=True) as reading:  # without a replica the primary answers
        assert reading.rows(_STANDBY) == [(False,)]


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

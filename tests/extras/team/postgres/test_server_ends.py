"""What a server does meanwhile: it is killed, it ends a connection, it pools connections, its schema is another one."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.contracts.contract import session, step
from tests.extras.team.team import PROJECT, Team, found, make_database, send, sent
from tests.pgbouncer import need_pgbouncer, pooling
from tests.postgres_kinds import on_every_server
from tests.postgres_server import PostgresServer, start_again, start_server, stop_server
from unified_state.errors import StorageError
from unified_state.extras.team.postgres.record_store import TeamStore
from unified_state.extras.team.postgres.set_up_server import init_server
from unified_state.model.history_records import StoredStep


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that the test may kill; in a short path, since a socket's cannot be long."""
    folder = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"own-{os.getpid()}"
    folder.parent.mkdir(exist_ok=True)
    yield start_server(folder)
    stop_server(folder)
    shutil.rmtree(folder)


def test_a_server_killed_while_appending_has_all_or_nothing_of_it(own_server: PostgresServer) -> None:
    with ExitStack() as stack:
        team = Team(own_server, make_database(own_server), stack)
        store = team.open()
        told_of = 0
        killer = threading.Timer(0.5, stop_server, [own_server.folder])
        killer.start()
        told = ""
        while not told:
            try:
                send(store, *(step(told_of + number) for number in range(1, 301)), first=told_of + 1)
                told_of += 300
            except StorageError as error:
                told = str(error)
        assert "nothing is lost" in told
        killer.join()
        start_again(own_server.folder)
        again = team.open()
        kept = [one for one in again.own_records() if isinstance(one, StoredStep)]
        assert len(kept) in {told_of, told_of + 300}
        assert again.mark("laptop") == len(kept) / 300
        assert send(again, *(step(number) for number in range(1, told_of + 301))) == told_of + 300 - len(kept)


def test_a_connection_that_the_server_ends_is_one_line_and_leaves_nothing_half(team: Team) -> None:
    store = team.open()
    send(store, step(1))
    team.superuser().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [team.logins["ada"]]
    )
    with pytest.raises(StorageError) as raised:
        send(store, step(2), step(3))
    assert "\n" not in str(raised.value)
    assert send(team.open(), step(2), step(3)) == 2


def test_through_a_pool_in_transaction_mode_nobody_reads_or_writes_as_another_one(team: Team) -> None:
    need_pgbouncer()
    for member in ("ada", "bob"):
        team.admit(member)
    with pooling(team.postgres, list(team.logins.values()), 1) as parameters:
        stores = {}
        for member, login in team.logins.items():
            server = found(team.postgres.dsn(team.database, **{**parameters, "user": login}))
            stores[member] = TeamStore(server, team.organisation, PROJECT, begins=True)
        for number in range(10):
            for member, store in stores.items():
                assert send(store, session(member), step(100 + number, member, session_id=member)) == 2 - bool(number)
        for member, store in stores.items():
            assert {one.text for one in store.own_records() if isinstance(one, StoredStep)} == {member}
            store.close()


@on_every_server
def test_init_twice_changes_nothing(postgres: PostgresServer) -> None:
    database = make_database(postgres)
    server = found(postgres.dsn(database, "postgres"))
    assert "is there" in init_server(server)["schema"]


def test_vectors_can_come_later(postgres: PostgresServer) -> None:
    with ExitStack() as stack:
        team = Team(postgres, postgres.database(has_vectors=False), stack)
        init_server(team.administrator)
        team.superuser().execute("ALTER TABLE unified_state.record DROP COLUMN embedding")
        with_vector = [one.replace(model="model 1", vector=(1.0,) * 384) for one in sent(step(1))]
        store = team.open()
        assert not store.vectors_in
        assert store.append(with_vector, "laptop", 1) == 1
        init_server(team.administrator)
        again = team.open()
        assert again.append(with_vector, "laptop", 2) == 1
        assert len(again.nearest("model 1", [1.0] * 384, 9)) == 1

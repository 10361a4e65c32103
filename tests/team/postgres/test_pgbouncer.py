"""Through PgBouncer in transaction mode, with one connection to the server for everybody."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.contracts import CONTRACTS, Contract
from tests.contracts.contract import session, step, steps_of, turn, uuid
from tests.passwd import SERVERS_USER, mounted_passwd
from tests.postgres_server import OWNER, PostgresServer
from tests.team.postgres.test_tenancy import SECRET, claim, count_all
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import HistoryQuery
from unified_state.team.postgres.postgres_store import open_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.team.postgres.conftest import OpenAs

_PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
_REQUIRED = "UNIFIED_STATE_REQUIRE_OLDER_SERVERS"
_CONF = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 1
"""


@pytest.fixture(scope="module")
def pooled(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """How to reach the server through a pool."""
    if _PROGRAM is None:
        reason = "there is no PgBouncer; apt-get install pgbouncer"
        (pytest.fail if os.environ.get(_REQUIRED) == "1" else pytest.skip)(reason)
    mounted_passwd()
    folder = postgres.folder.parent / f"bouncer-{os.getpid()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    (folder / "users").write_text(f'"{OWNER}" ""\n')
    (folder / "conf").write_text(_CONF.format(host=postgres.folder, port=postgres.port, own=own, folder=folder))
    user = SERVERS_USER if os.geteuid() == 0 else None
    with subprocess.Popen([str(_PROGRAM), str(folder / "conf")], user=user, stderr=subprocess.DEVNULL) as process:
        for _ in range(100):
            with suppress(OSError), socket.create_connection(("127.0.0.1", own)):
                break
            time.sleep(0.05)
        yield {"host": "127.0.0.1", "port": own}
        process.terminate()


@pytest.fixture
def by_hand(postgres: PostgresServer, pooled: dict[str, Any]) -> Iterator[psycopg.Connection[Any]]:
    """A connection of somebody who sends what he likes through the same pool."""
    with psycopg.connect(postgres.dsn(**pooled), autocommit=True, prepare_threshold=None) as connection:
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

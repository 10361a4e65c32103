"""On three nodes of Citus: what holds on one server holds there, each statement is of one node, and one may be down."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import pytest

from tests.contracts.contract import decision, session, step, turn
from tests.extras.team.postgres.test_hostile_member import (  # noqa: F401  # what they promise holds here, too
    ada,
    eves,
    test_copy_is_no_way_around_the_policies,
    test_he_cannot_put_a_record_in_her_way_that_has_the_id_of_hers,
    test_he_holds_nobody_up_by_a_lock,
    test_no_statement_of_his_changes_hers_or_who_may_do_what_and_none_shows_another_organisation,
)
from tests.extras.team.postgres.test_membership import (  # noqa: F401
    test_a_member_of_some_projects_reads_no_other_one_and_begins_none,
    test_a_project_that_is_deleted_is_gone_with_all_its_records_and_no_other_one,
    test_a_project_that_moves_is_found_by_both_names,
    test_members_of_a_project_read_each_other_and_another_organisation_reads_nothing,
    test_nobody_comes_back_by_a_name_alone,
    test_who_is_removed_reads_nothing_at_once_and_what_he_sent_remains,
    test_who_only_reads_writes_nothing,
)
from tests.extras.team.postgres.test_records import (  # noqa: F401
    test_a_batch_that_is_sent_again_changes_nothing,
    test_a_session_is_forgotten_up_to_a_time_also_what_another_archive_sends_of_it_later,
    test_a_whole_history_comes_back_as_it_was,
    test_any_text_and_names_of_any_length_are_kept,
    test_of_two_versions_the_newer_one_stays_whichever_comes_last,
    test_what_is_deleted_is_gone_and_a_later_sync_sends_it_again,
    test_what_is_forgotten_leaves_no_text_and_does_not_come_back,
    test_what_one_member_sends_or_forgets_is_nothing_to_another_one_with_the_same_records,
)
from tests.extras.team.team import Team, found, make_database, send
from tests.postgres_server import PostgresServer, end_server, shared_server, start_again, start_empty, stop_server
from unified_state.errors import StorageError
from unified_state.extras.team.postgres.record_store import _OWN_RECORDS
from unified_state.extras.team.postgres.set_up_server import init_server
from unified_state.model.history_records import StoredStep, Tombstone

_PROGRAMS = Path("/usr/lib/postgresql/15/bin")
_CONTROL = Path("/usr/share/postgresql/15/extension/citus.control")
_REQUIRED = "UNIFIED_STATE_REQUIRE_CITUS"
_CONF = """
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
citus.shard_count = 8
wal_level = logical
max_prepared_transactions = 200
max_worker_processes = 64
"""
_NODE_OF = """
SELECT nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
WHERE shardid = get_shard_id_for_distribution_column('unified_state.record', %s)
"""


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[PostgresServer]]:
    """A coordinator and two workers."""
    if not _CONTROL.exists():
        reason = "Citus is not installed for PostgreSQL 15: build github.com/citusdata/citus (v13.2.2)"
        (pytest.fail if os.environ.get(_REQUIRED) == "1" else pytest.skip)(reason)
    folder = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"citus-{os.getpid()}"
    folder.mkdir(mode=0o755, parents=True)
    made = [start_empty(folder / name, _PROGRAMS, _CONF) for name in ("coordinator", "worker-1", "worker-2")]
    for node in made:
        with node.admin() as connection:
            connection.execute("CREATE DATABASE team")
        with node.admin("team") as connection:
            connection.execute("CREATE EXTENSION citus")
    with made[0].admin("team") as connection:
        connection.execute("CREATE ROLE unified_state LOGIN; CREATE ROLE with_password")
        connection.execute("SELECT citus_set_coordinator_host('127.0.0.1', %s)", [made[0].port])
        for node in made[1:]:
            connection.execute("SELECT citus_add_node('127.0.0.1', %s)", [node.port])
    yield made
    end_server(folder)


@pytest.fixture(scope="module")
def postgres(nodes: list[PostgresServer]) -> PostgresServer:
    return nodes[0]


@pytest.fixture(scope="module")
def team_database(postgres: PostgresServer) -> str:
    return make_database(postgres, "team")


class Noting(psycopg.ClientCursor[Any]):
    """A cursor that notes each statement with its values."""

    ran: ClassVar[dict[str, str]] = {}

    def execute(self, query: Any, params: Any = None, **others: Any) -> Any:
        self.ran[" ".join(query.split())] = self.mogrify(query, params)
        return super().execute(query, params, **others)


def test_every_statement_on_records_is_of_one_node(team: Team) -> None:
    """Its plan is asked for as a superuser: for a member a worker evaluates the policies' functions while it plans,
    which Citus refuses in EXPLAIN now and then. The policies are no part of what the coordinator distributes.
    """
    store = team.open()
    store._connection.cursor_factory = Noting
    assert send(store, session(), *turn(1), decision(1, "D1")) == len(turn(1)) + 2
    assert store.count_words(["'test'"])[1][0] > 0
    keys = [key[:2] for key in store.candidates("'test'", {"'test'": 1.0}, None, 9)]
    assert store.fetch(keys)
    assert store.called([("ada", "D1")])
    assert len(store.rows(_OWN_RECORDS, kind="step")) == len(turn(1))  # otherwise read by a cursor of the server
    send(store, Tombstone("session", "one", 1 << 50))
    store.delete_own()
    statements = [filled for query, filled in Noting.ran.items() if "unified_state.record" in query]
    assert len(statements) == 8
    with team.superuser() as superuser:
        plans = {one: "\n".join(line for (line,) in superuser.execute(f"EXPLAIN {one}")) for one in statements}
    assert [one for one, plan in plans.items() if "Task Count: 1\n" not in plan or "ubplan" in plan] == []


def test_a_node_that_is_down_stops_its_projects_alone_and_is_said(team: Team, nodes: list[PostgresServer]) -> None:
    stores = [team.open("ada", f"project {number}") for number in range(8)]
    with team.superuser() as superuser:
        ports = [superuser.execute(_NODE_OF, [one._place["project"]]).fetchone() for one in stores]
    down = nodes[1]
    away, here = (stores[[port == (down.port,) for port in ports].index(is_down)] for is_down in (True, False))
    stop_server(down.folder)
    try:
        assert send(here, step(1)) == 1
        with pytest.raises(StorageError, match="cannot be used") as raised:
            send(away, step(1))
        assert "nothing is lost" in str(raised.value)
    finally:
        start_again(down.folder)
    assert send(team.open("ada", away.project), step(1)) == 1


def test_a_backup_comes_back_on_one_server_and_one_of_that_on_three_nodes(team: Team, tmp_path: Path) -> None:
    """By `pg_dump` of the schema, as the page says; roles are there."""
    send(team.open(), session(), *turn(1), decision(1, "D1"))
    kept = list(team.open().own_records())
    (group, login), dump = (f"unified_state:{team.organisation}", team.logins["ada"]), tmp_path / "dump.sql"
    single = shared_server(_PROGRAMS)

    def restored(source: PostgresServer, of: str, target: PostgresServer, into: str) -> list[Any]:
        options = ["--schema", "unified_state", "--file", str(dump)]
        subprocess.run([_PROGRAMS / "pg_dump", *options, "-d", source.dsn(of, "postgres")], check=True)
        with target.admin(into) as connection:
            connection.execute("DROP SCHEMA IF EXISTS unified_state CASCADE")
        subprocess.run([_PROGRAMS / "psql", "-qf", str(dump), target.dsn(into, "postgres")], check=True)
        init_server(found(target.dsn(into, "postgres")))
        with ExitStack() as stack:
            there = Team(target, into, stack)
            there.organisation, there.logins = team.organisation, team.logins
            return [one for one in there.open(begins=False).own_records() if isinstance(one, StoredStep)]

    with single.admin() as connection:
        connection.execute(f'CREATE ROLE "{group}"; CREATE ROLE "{login}" LOGIN; GRANT "{group}" TO "{login}"')
    plain = single.database()
    with single.admin() as connection:
        connection.execute(f'GRANT CONNECT ON DATABASE "{plain}" TO "{group}"')
    steps = [one for one in kept if isinstance(one, StoredStep)]
    assert restored(team.postgres, "team", single, plain) == steps
    assert restored(single, plain, team.postgres, "team") == steps

"""On Citus itself: one shard for each statement, access on every node, a node that is down, and one that is added."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
import pytest

from tests.citus_server import CitusServer, need_citus, start_citus
from tests.contracts.contract import decision, session, step, uuid
from tests.postgres_server import end_server, start_again, stop_server
from tests.team.postgres.test_tenancy import SECRET
from unified_state.errors import StorageError
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import HistoryQuery, Tombstone
from unified_state.team.postgres.postgres_store import PostgresStore, open_postgres

if TYPE_CHECKING:
    from unified_state.model.history_records import HistoryRecord

_PROJECTS = [f"p{number}" for number in range(12)]
_NODE_OF = """
SELECT nodeport FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
WHERE shardid = get_shard_id_for_distribution_column('unified_state.step', %s)
"""
_REBALANCE = "SELECT rebalance_table_shards('unified_state.step', shard_transfer_mode := 'block_writes')"


@pytest.fixture(scope="module")
def cluster() -> Iterator[CitusServer]:
    """A cluster of this module's own, whose nodes it stops and adds."""
    need_citus()
    folder = Path(os.environ["PYTEST_POSTGRES_FOLDER"]) / f"nodes-{os.getpid()}"
    folder.parent.mkdir(mode=0o755, exist_ok=True)
    yield start_citus(folder)
    end_server(folder)


@pytest.fixture
def organisation() -> str:
    return f"org-{uuid4().hex}"


def open_as_role(cluster: CitusServer, organisation: str, member: str = "ada", project: str = "p") -> PostgresStore:
    """A store of a member with a role of its own."""
    open_postgres(cluster.dsn(), "p", organisation="owners", member="owner").close()
    role = cluster.role()
    with cluster.connect() as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, %s)", [role, organisation, member])
    return open_postgres(cluster.dsn(user=role), project, organisation=organisation, member=member)


class Explaining(psycopg.Cursor[Any]):
    """A cursor that asks how a statement would run before it runs it."""

    plans: dict[str, str]

    def execute(self, query: Any, params: Any = None, **others: Any) -> Any:
        self._explain(query, params)
        return super().execute(query, params, **others)

    def executemany(self, query: Any, params_seq: Any, **others: Any) -> None:
        rows = list(params_seq)
        if rows:
            self._explain(query, rows[0])
        super().executemany(query, rows, **others)

    def _explain(self, query: Any, params: Any) -> None:
        words = str(query).split()
        if words[:1] and words[0] in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
            rows = super().execute("EXPLAIN " + str(query), params).fetchall()
            self.plans[" ".join(words)] = "\n".join(line for (line,) in rows)


def test_every_statement_on_history_is_a_query_of_one_shard(cluster: CitusServer, organisation: str) -> None:
    store, plans = open_as_role(cluster, organisation), dict[str, str]()
    cursors = type("Cursors", (Explaining,), {"plans": plans})
    with store._connections.one() as connection:
        connection.cursor_factory = cursors
    store.append(SECRET)
    store.append([*SECRET, decision(3, "D1", "another"), session("two")])
    store.append([step(1, "the swordfish of ada, masked", masked_at=1), step(2)])
    store.marks.keep("laptop", store.marks.read("laptop") + 1)
    for query in (HistoryQuery("swordfish"), HistoryQuery("swordfish", session_id="fork", kind=step(1).kind, since=0)):
        assert store.search(query)
    assert list(everything(store))
    assert store.find_steps(uuid(1))
    assert store.find_items("D1")
    assert store.counts().steps == 2
    forgotten = [("step", f"{uuid(1)}/0"), ("item", uuid(1_000_001)), ("compaction", uuid(7)), ("session", "one")]
    assert store.append([Tombstone(what, key, 1 << 50) for what, key in forgotten]) == 4
    asked = {text: plan for text, plan in plans.items() if "Citus" in plan}
    assert [text for text, plan in asked.items() if "Task Count: 1\n" not in plan] == []
    assert [text for text, plan in asked.items() if "ubplan" in plan or "pulled" in plan.lower()] == []
    for part in ("search_there", "take_numbers_there", "INTO unified_state.step ", "INTO unified_state.step_words"):
        assert any(part in text for text in asked), part
    elsewhere = [text for text in plans if text not in asked]  # functions that ask on their own, and constants
    assert [text for text in elsewhere if " FROM unified_state." in text or " INTO unified_state." in text] == []
    store.close()


def test_roles_grants_and_policies_are_on_every_node(cluster: CitusServer, organisation: str) -> None:
    store = open_as_role(cluster, organisation)
    store.append(SECRET)
    with store._connections.one() as connection:
        role = connection.info.user
    for node in cluster.nodes:
        with node.admin("shared") as connection:
            connection.execute("SET citus.override_table_visibility = off")
            tables = connection.execute(
                "SELECT relname, has_table_privilege(%s, oid, 'SELECT, INSERT'), "
                "relrowsecurity AND relforcerowsecurity, "
                "(SELECT count(*) FROM pg_policy WHERE polrelid = pg_class.oid) "
                "FROM pg_class WHERE relnamespace = 'unified_state'::regnamespace AND relname ~ '^step(_[0-9]+)?$'",
                [role],
            ).fetchall()
        assert tables
        assert {tuple(rest) for _, *rest in tables} == {(True, True, 4)}
        assert len(tables) > 1 or node.port == cluster.port  # the coordinator holds no shards
    store.close()


def test_who_notes_by_himself_that_he_was_checked_sees_no_more(cluster: CitusServer, organisation: str) -> None:
    ada = open_as_role(cluster, organisation)
    ada.append(SECRET)
    bob = open_as_role(cluster, f"{organisation}-2", "bob")
    with ada._transaction() as (connection, readable):
        (hers,) = connection.execute("SELECT unified_state.project()").fetchone() or (0,)
    told = {"inside": "on", "inside_project": hers, "inside_readable": f"{{{readable[0]}}}", "wanted": "!nothing"}
    with bob._transaction() as (connection, _):
        for name, value in told.items():
            connection.execute(f"SET LOCAL unified_state.{name} TO '{value}'")
        for table in ("step", "step_words", "session", "item"):
            found = connection.execute(f"SELECT count(*) FROM unified_state.{table} WHERE project = {hers}").fetchone()
            assert found == (0,)
    with pytest.raises(psycopg.errors.InsufficientPrivilege), bob._connections.one() as connection:
        connection.execute(
            "SELECT * FROM unified_state.search_there(%s::bigint, %s, 'p', 'ada', ARRAY['swordfish'], NULL, NULL, "
            "NULL, NULL, NULL, NULL, NULL, NULL, 100, 10)",
            [hers, organisation],
        )
    ada.close()
    bob.close()


def test_a_node_that_is_down_is_told_and_the_projects_of_the_others_are_served(
    cluster: CitusServer, organisation: str
) -> None:
    stores = _filled(cluster, organisation)
    stopped = cluster.workers[1]
    stop_server(stopped.folder)
    try:
        served, told = [], dict[str, StorageError]()
        for project, store in stores.items():
            try:
                assert store.search(HistoryQuery("swordfish"))
                assert store.append([step(500)]) == 1
                served.append(project)
            except StorageError as raised:
                told[project] = raised
    finally:
        start_again(stopped.folder)
    assert served
    assert told
    for project, error in told.items():
        assert f"127.0.0.1:{stopped.port}" in error.message
        assert "the projects on other nodes are served" in error.hint
        assert stores[project].search(HistoryQuery("swordfish"))
        assert stores[project].append([step(500)]) == 1
    for store in stores.values():
        store.close()


def test_a_node_is_added_and_shards_move_to_it_while_members_write(cluster: CitusServer, organisation: str) -> None:
    stores, ended = _filled(cluster, organisation), Event()
    written: dict[str, list[HistoryRecord]] = {project: list(everything(store)) for project, store in stores.items()}
    failed: list[Exception] = []

    def write(project: str) -> None:
        number = 1000
        while not ended.is_set():
            records: list[HistoryRecord] = [step(number), step(number + 1)]
            for _ in range(5):  # as a sync would try again
                try:
                    stores[project].append(records)
                    break
                except StorageError as error:
                    failed.append(error)
            else:
                raise AssertionError(failed[-1])
            written[project] += records
            number += 2

    threads = [Thread(target=write, args=(project,)) for project in _PROJECTS[:3]]
    for thread in threads:
        thread.start()
    try:
        worker = cluster.add_worker()
        with cluster.admin("shared") as connection:
            connection.execute("SELECT citus_add_node('127.0.0.1', %s)", [worker.port])
            connection.execute(_REBALANCE)
            connection.execute("CALL citus_cleanup_orphaned_resources()")  # what moved is gone from where it was
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    with cluster.admin("shared") as connection:
        nodes = dict(connection.execute("SELECT nodeport, count(*) FROM citus_shards GROUP BY 1").fetchall())
    assert worker.port in nodes
    for project, store in stores.items():
        assert sorted(map(repr, everything(store))) == sorted(map(repr, written[project]))
        assert store.search(HistoryQuery("swordfish"))
        store.close()


def _filled(cluster: CitusServer, organisation: str) -> dict[str, PostgresStore]:
    """Stores of one member in several projects, which are on all nodes."""
    open_as_role(cluster, organisation).close()
    first = open_as_role(cluster, organisation, project=_PROJECTS[0])
    user = first._server.parameters["user"]
    first.close()
    stores = {
        project: open_postgres(cluster.dsn(user=user), project, organisation=organisation, member="ada")
        for project in _PROJECTS
    }
    for store in stores.values():
        store.append(SECRET)
    with cluster.admin("shared") as connection:
        nodes = {connection.execute(_NODE_OF, [store._asker.project]).fetchone() for store in stores.values()}
    assert len(nodes) > 1
    return stores

"""The form that the schema has on a distributed server (Citus), on a plain one: see `distributed_server`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest

from tests.contracts import CONTRACTS, Contract
from tests.contracts.contract import step, uuid
from tests.postgres_server import PostgresServer
from tests.team.postgres.distributed_server import make_distributed
from tests.team.postgres.old_schema import WITHOUT_SHARED_ITEMS
from tests.team.postgres.test_tenancy import SECRET, claim, count_all
from unified_state.errors import StorageError
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import HistoryQuery, Tombstone
from unified_state.team import postgres as postgres_tier
from unified_state.team.postgres.postgres_store import open_postgres
from unified_state.team.postgres.schema.server_migrations import DISTRIBUTED_TABLES, FUNCTIONS, migrations, vectors
from unified_state.team.postgres.schema.tables_sql import HISTORY_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.team.postgres.conftest import OpenAs

_TABLES = {*DISTRIBUTED_TABLES, "step_vector"}
_READ = re.compile(rf"(?<!')\bunified_state\.({'|'.join(sorted(_TABLES))})\b")
_SEARCHES = re.compile(r"\bunified_state\.(matching|nearest|newest|note_volume)\(")


@pytest.fixture(scope="module")
def distributed(postgres: PostgresServer) -> str:
    """A database in that form."""
    return make_distributed(postgres, postgres.database())


@pytest.fixture
def statements(postgres: PostgresServer) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    """A database of that form, and how to read the statements that it was sent by ordinary roles."""
    database = make_distributed(postgres, postgres.database())
    with postgres.admin() as connection:
        connection.execute(f"ALTER DATABASE {database} SET log_statement = 'all'")
    log = postgres.folder / "log"
    begin = log.stat().st_size

    def sent() -> list[str]:
        with log.open("rb") as file:
            file.seek(begin)
            lines = file.read().decode("utf-8", "replace")
        logged = re.split(r"^\S+ \S+ \S+ \[\d+\] ", lines, flags=re.MULTILINE)
        found = (re.match(r"LOG:  (?:statement|execute [^:]*): (.*)", entry, re.DOTALL) for entry in logged)
        return [match[1] for match in found if match]

    yield database, sent
    with postgres.admin() as connection:
        connection.execute(f"ALTER DATABASE {database} RESET ALL")


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: f"{contract.number:02}-{contract.check.__name__}")
def test_the_form_for_a_distributed_server_keeps_every_contract(
    postgres: PostgresServer, distributed: str, contract: Contract
) -> None:
    organisation, dsn = uuid4().hex, postgres.dsn(distributed)
    contract.check(lambda project: open_postgres(dsn, project, organisation=organisation, member="ada"))


def test_every_table_but_those_of_who_there_is_is_distributed_by_the_project(
    postgres: PostgresServer, distributed: str, open_as: OpenAs
) -> None:
    open_as(dbname=distributed)
    with postgres.admin(distributed) as connection:
        laid_out = dict(connection.execute("SELECT relation::text, distribution_column FROM laid_out").fetchall())
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'unified_state'").fetchall()
    assert laid_out == {f"unified_state.{table}": "project" if table in _TABLES else None for (table,) in tables}
    assert {table for (table,) in tables} - _TABLES == {"version", "organisation", "member", "project"}


def test_a_table_that_a_later_version_brings_is_distributed_too(postgres: PostgresServer, open_as: OpenAs) -> None:
    database = make_distributed(postgres, postgres.database())
    open_as(dbname=database).append([step(1)])
    with postgres.admin(database) as connection:  # back to the third version
        connection.execute(WITHOUT_SHARED_ITEMS)
        connection.execute("DELETE FROM laid_out WHERE relation = 'unified_state.replica'::regclass")
        connection.execute("DROP TABLE unified_state.replica; DELETE FROM unified_state.version WHERE number > 3")
        connection.execute("ALTER TABLE unified_state.step DROP COLUMN session_guessed")
        connection.execute("DROP FUNCTION unified_state.given")
    store = open_as(dbname=database)
    store.marks.keep("laptop", 7)
    assert (store.marks.read("laptop"), store.counts().steps) == (7, 1)
    with postgres.admin(database) as connection:
        laid_out = dict(connection.execute("SELECT relation::text, distribution_column FROM laid_out").fetchall())
    assert laid_out["unified_state.replica"] == "project"


def test_no_policy_there_holds_a_sub_select(postgres: PostgresServer, distributed: str, open_as: OpenAs) -> None:
    open_as(dbname=distributed)
    with postgres.admin(distributed) as connection:
        texts = connection.execute(
            "SELECT concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy"
        ).fetchall()
    assert len(texts) > len(_TABLES)
    assert [text for (text,) in texts if "SELECT" in text.upper()] == []


def test_every_statement_that_reads_tables_names_the_project_and_calls_nothing_that_reads_others(
    postgres: PostgresServer, statements: tuple[str, Callable[[], list[str]]], open_as: OpenAs
) -> None:
    database, sent = statements
    store = open_as(dbname=database)
    store.append(SECRET)
    store.append(SECRET)
    store.append([step(1, "the swordfish of ada, masked", masked_at=1)])
    assert store.vectors.add("model", [(uuid(1), 0, [1.0, 0.0])]) == 1
    store.marks.keep("laptop", 1)
    assert store.marks.read("laptop") == 1
    query = HistoryQuery("swordfish", session_id="fork", vector=(1.0, 0.0), kind=step(1).kind, since=0)
    assert store.search(query)
    assert list(everything(store))
    assert store.find_steps(uuid(1))
    assert store.find_items("D1")
    assert store.counts().steps == 1
    forgotten = [("step", f"{uuid(1)}/0"), ("item", uuid(1_000_001)), ("compaction", uuid(7)), ("session", "one")]
    assert store.append([Tombstone(what, key, 1 << 50) for what, key in forgotten]) == 4
    assert store.counts().steps == 0
    begin = next(place for place, sql in enumerate(sent()) if sql.startswith("SELECT unified_state.ask("))
    reading = [sql for sql in sent()[begin:] if _READ.search(sql)]
    assert {match for sql in reading for match in _READ.findall(sql)} == _TABLES - {"common_word", "numbering"}
    assert [sql for sql in reading if not re.search(r"\bproject = [$%]|VALUES \(\$1", sql)] == []
    assert [sql for sql in reading if _SEARCHES.search(sql)] == []


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("(project bigint, x text UNIQUE)", "unique index"),
        ("(project bigint) PARTITION BY HASH (project)", "no ordinary table"),
        ("(project bigint); CREATE POLICY p ON x.t USING (project = (SELECT 1))", "cannot create policy"),
        ("(project bigint); GRANT UPDATE (project) ON x.t TO PUBLIC", "column list"),
        ("(project integer)", "cannot colocate"),
    ],
)
def test_what_citus_refuses_is_refused_in_its_place(
    postgres: PostgresServer, distributed: str, open_as: OpenAs, table: str, told: str
) -> None:
    open_as(dbname=distributed)
    with postgres.connect(distributed) as connection, connection.transaction(force_rollback=True):
        connection.execute(f"CREATE SCHEMA x; CREATE TABLE x.t {table}")
        with pytest.raises(psycopg.errors.RaiseException, match=told):
            connection.execute(
                "SELECT create_distributed_table('x.t', 'project', colocate_with => 'unified_state.step')"
            )


def test_a_schema_that_is_there_remains_as_it_was_laid_out(postgres: PostgresServer, open_as: OpenAs) -> None:
    database = postgres.database(has_vectors=False)
    open_as(dbname=database).append(SECRET)
    make_distributed(postgres, database)
    with postgres.admin(database) as connection:
        connection.execute("CREATE EXTENSION vector")
    with open_as(dbname=database) as store:
        assert store.vectors.add("model", [(uuid(1), 0, [1.0, 0.0])]) == 1
    with postgres.admin(database) as connection:
        assert connection.execute("SELECT count(*) FROM laid_out").fetchone() == (0,)


def test_settings_are_told_by_statements_which_citus_hands_on_to_the_nodes() -> None:
    schema = FUNCTIONS + vectors("public", distributed=True) + "".join(migrations(distributed=True))
    sources = "".join(path.read_text() for path in Path(postgres_tier.__path__[0]).rglob("*.py"))
    assert re.findall(r"\bset_config\('([^']*)", schema) == ["citus.propagate_set_commands"]
    assert len(re.findall(r"\bset_config\(", sources)) == 1


@pytest.mark.parametrize(
    ("other_organisation", "project", "member"),
    [(True, "p", "ada"), (False, "another", "ada"), (False, "p", "nobody"), (True, "", ""), (False, "", "ada")],
)
def test_the_owner_sees_nothing_of_another_tenant_there(
    postgres: PostgresServer,
    distributed: str,
    open_as: OpenAs,
    organisation: str,
    other_organisation: bool,
    project: str,
    member: str,
) -> None:
    open_as("ada", dbname=distributed).append(SECRET)
    with postgres.connect(distributed) as connection:
        claim(connection, organisation + "x" * other_organisation, project, member)
        assert count_all(connection) == {}


def test_a_member_that_is_bound_to_a_role_is_nobody_elses_there(
    postgres: PostgresServer, distributed: str, open_as: OpenAs, organisation: str
) -> None:
    hers, his = postgres.role(), postgres.role()
    open_as("ada", of="elsewhere-" + organisation, dbname=distributed)
    with postgres.connect(distributed) as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [hers, organisation])
        owner.execute("SELECT unified_state.admit(%s, %s, 'bob')", [his, organisation])
    open_as("ada", user=hers, dbname=distributed).append(SECRET)
    assert open_as("bob", user=his, dbname=distributed).search(HistoryQuery("swordfish"))
    with pytest.raises(StorageError, match="no member of"):
        open_as("ada", user=his, dbname=distributed)
    with postgres.connect(distributed, user=his) as connection:
        claim(connection, organisation, "p", "ada")
        assert count_all(connection) == {}


def test_who_claims_another_of_his_organisations_within_a_statement_sees_no_more_by_it_there(
    postgres: PostgresServer, distributed: str, open_as: OpenAs, organisation: str
) -> None:
    """There the functions of a policy are asked again and again, and a statement can change the settings meanwhile."""
    hers, his, sharing = postgres.role(), postgres.role(), f"{organisation}-sharing"
    open_as("ada", of="elsewhere-" + organisation, dbname=distributed)
    with postgres.connect(distributed) as owner:
        for of in (organisation, sharing):
            owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [hers, of])
            owner.execute("SELECT unified_state.admit(%s, %s, 'bob')", [his, of])
        claim(owner, organisation, "", "")
        owner.execute("UPDATE unified_state.organisation SET shares = false")
    open_as("ada", user=hers, dbname=distributed).append([step(number) for number in range(20)])
    open_as("bob", user=his, dbname=distributed).append([step(99, session_id="his")])
    with postgres.connect(distributed, user=his) as connection:
        claim(connection, organisation, "p", "bob")
        (here,) = connection.execute("SELECT unified_state.project()").fetchone() or (0,)
        changing = f"set_config('unified_state.organisation', '{sharing}', false) IS NOT NULL"
        for scan in ("enable_indexscan", "enable_seqscan", "enable_bitmapscan"):
            claim(connection, organisation, "p", "bob")
            connection.execute(f"SET {scan} TO off")
            seen = connection.execute(
                f"SELECT author FROM unified_state.step WHERE project = {here} AND {changing}"
            ).fetchall()
            assert len(seen) <= 1


@pytest.mark.parametrize("table", HISTORY_TABLES)
def test_nothing_of_another_tenant_can_be_changed_there(
    postgres: PostgresServer, distributed: str, open_as: OpenAs, organisation: str, table: str
) -> None:
    ada = open_as("ada", dbname=distributed)
    ada.append(SECRET)
    before = list(everything(ada))
    open_as("ada", of=f"{organisation}-2", dbname=distributed).append(SECRET)
    with postgres.connect(distributed) as connection:
        claim(connection, organisation, "p", "ada")
        (hers,) = connection.execute("SELECT unified_state.project()").fetchone() or (0,)
        claim(connection, f"{organisation}-2", "p", "ada")
        assert connection.execute(f"DELETE FROM unified_state.{table} WHERE project = {hers}").rowcount == 0
        connection.execute(
            "INSERT INTO unified_state.common_word VALUES (unified_state.project(), unified_state.author(), 'x', 1)"
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"UPDATE unified_state.{table} SET project = {hers}")
    assert list(everything(ada)) == before

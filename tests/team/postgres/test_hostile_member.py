"""A member who may write tries every table, function and lock: another one's history remains as it was, and goes on."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.contracts.contract import decision, session, step, steps_of, texts, turn, uuid
from tests.postgres_kinds import on_every_engine
from tests.team.postgres.attacks import attacks
from tests.team.postgres.test_tenancy import SECRET, claim
from unified_state.errors import StorageError
from unified_state.lib.record import Record
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import HistoryQuery, StoredCompaction, StoredStep
from unified_state.team.postgres.schema.server_migrations import DISTRIBUTED_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs
    from unified_state.model.history_records import HistoryRecord
    from unified_state.team.postgres.postgres_store import PostgresStore

pytestmark = on_every_engine
HERS: list[HistoryRecord] = [*SECRET, *turn(100, "three"), step(300, "…", session_id="three"), decision(5, "D5")]
HIS: list[HistoryRecord] = [session("his"), *turn(900, "his"), decision(9, "D9"), StoredCompaction("his", uuid(8), 1)]
# The last key is the one that was once used while the schema changes.
_ADVISORY = (
    "SELECT pg_advisory_lock(n), pg_advisory_lock(0, n) FROM generate_series(0, 999) AS n",
    "SELECT pg_advisory_lock(1970170214)",
)
_NAMED = "SELECT unified_state.project(), unified_state.author()"


class Team(Record):
    """A database with three members of one organisation, bound to roles; Bob is in another one, too."""

    server: Any
    database: str
    organisation: str
    ada: str
    bob: str
    carol: str

    def as_bob(self, member: str = "bob", organisation: str = "") -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] = self.server.connect(self.database, self.bob)
        claim(connection, organisation or self.organisation, "p", member)
        return connection


@pytest.fixture
def team(postgres: PostgresServer, organisation: str, open_as: OpenAs) -> Team:
    database, ada, bob, carol = postgres.database(), postgres.role(), postgres.role(), postgres.role()
    open_as("grace", of="another", database=database)
    with postgres.connect(database) as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [ada, organisation])
        owner.execute("SELECT unified_state.admit(%s, %s, 'carol')", [carol, organisation])
        for of in (organisation, "globex"):
            owner.execute("SELECT unified_state.admit(%s, %s, 'bob')", [bob, of])
    with postgres.admin(database) as superuser:
        superuser.execute("CREATE TABLE public.caught (by_whom text); GRANT INSERT, SELECT ON public.caught TO PUBLIC")
        superuser.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")  # as PostgreSQL 14 has it
    return Team(postgres, database, organisation, ada, bob, carol)


@pytest.fixture
def ada(team: Team, open_as: OpenAs) -> PostgresStore:
    store = open_as("ada", user=team.ada, database=team.database, own_only=True)
    store.append(HERS)
    store.marks.keep("laptop", 7)
    store.vectors.add("model", [(uuid(1), 0, [1.0, 0.0])])
    with open_as("bob", user=team.bob, database=team.database) as bob:
        bob.append(HIS)
        bob.vectors.add("model", [(uuid(900), 0, [1.0, 0.0])])
    return store


def history(store: PostgresStore) -> list[str]:
    """Every record and where it stands; the store's records are values, so equal texts are equal histories."""
    told = [repr(record) for record in everything(store)]
    told += [repr(store.steps(name)) for name in ("one", "fork", "three")]
    return [*told, repr(store.counts()), repr(store.marks.read("laptop"))]


def test_no_statement_of_his_changes_her_history(team: Team, ada: PostgresStore, open_as: OpenAs) -> None:
    before = history(ada)
    with team.server.connect(team.database, team.ada) as connection:
        claim(connection, team.organisation, "p", "ada")
        project, author = connection.execute(_NAMED).fetchone() or (0, 0)
    given = {
        "project": project,
        "author": author,
        "organisation": team.organisation,
        "role": team.bob,
        "victim": team.ada,
        "database": team.database,
    }
    with team.server.admin(team.database) as catalog:
        groups = list(attacks(catalog, given))
    done = {about: attack(team, statements, open_as) for about, statements in groups if history(ada) == before}
    assert history(ada) == before, list(done)[-1]
    assert [
        about for about in ("unified_state.step", "functions", "forged 5", "shadows in public") if not done[about]
    ] == []
    with open_as("carol", user=team.carol, database=team.database) as carol:
        shown = [repr(one) for name in ("one", "fork", "three") for one in steps_of(carol, name)]
        assert {one: shown.count(repr(one)) for one in HERS if isinstance(one, StoredStep)} == {
            one: 1 for one in HERS if isinstance(one, StoredStep)
        }
    works_on(ada)
    with team.server.admin(team.database) as superuser:
        caught = {name for (name,) in superuser.execute("SELECT by_whom FROM public.caught").fetchall()}
    assert caught <= {team.bob}


def attack(team: Team, statements: list[str], open_as: OpenAs) -> int:
    """Try statements as himself, as her, and as a member of another organisation; how many did something."""
    with suppress(StorageError), open_as("bob", user=team.bob, database=team.database) as bob:
        bob.append(HIS)  # what an earlier statement took away
    done = 0
    for member, of in (("bob", ""), ("ada", ""), ("bob", "globex")):
        with team.as_bob(member, of) as connection:
            for statement in statements:
                with suppress(psycopg.Error):
                    connection.execute("SET unified_state.wanted = '!nothing'")
                    done += connection.execute(statement).rowcount > 0
                claim(connection, of or team.organisation, "p", member)
    return done


def works_on(ada: PostgresStore) -> None:
    """Her next sync takes everything in, once, and she finds it."""
    assert ada.append([session("next"), *turn(500, "next"), decision(7, "D77")]) == len(turn(500)) + 1
    assert ada.append([*turn(500, "next")]) == 0
    assert steps_of(ada, "next") == turn(500, "next")
    assert ada.append([step(300, "masked swordtail", session_id="three", masked_at=1)]) == 0
    assert texts([hit.step for hit in ada.search(HistoryQuery("swordtail"))]) == ["masked swordtail"]
    assert ada.append([step(100, "Please run the tests", session_id="copy")]) == 1
    assert len(steps_of(ada, "copy")) == 1


def test_he_may_write_no_table_but_those_of_history_and_no_number(team: Team, ada: PostgresStore) -> None:
    with team.server.admin(team.database) as superuser:
        rows = superuser.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'unified_state'::regnamespace AND relkind IN "
            "('r', 'p', 'v', 'm', 'S') AND has_table_privilege(%s, oid, "
            "'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')",
            [team.bob],
        ).fetchall()
    assert {name for (name,) in rows} - {"step_vector"} == set(DISTRIBUTED_TABLES) - {"numbering"}


def test_functions_that_run_as_the_owner_pin_where_names_are_looked_up_and_nobody_else_calls_any(team: Team) -> None:
    with team.server.admin(team.database) as superuser:
        rows = superuser.execute(
            "SELECT proname, prosecdef, proconfig, has_function_privilege(%s, oid, 'EXECUTE'), "
            "EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0) "
            "FROM pg_proc WHERE pronamespace = 'unified_state'::regnamespace",
            [team.bob],
        ).fetchall()
    assert [
        name for name, definer, config, _, _ in rows if definer and config != ["search_path=pg_catalog, pg_temp"]
    ] == []
    assert [name for name, *_, everybody in rows if everybody] == []
    assert {name for name, _, _, his, _ in rows if not his} == {"admit", "let_call", "random_number"}


def test_nobody_counts_numbers_back(team: Team, ada: PostgresStore) -> None:
    with team.as_bob() as bob:
        for many in ("-1", "1000001", "NULL", "9223372036854775807"):
            with pytest.raises(psycopg.errors.InvalidParameterValue):
                bob.execute(f"SELECT unified_state.take_numbers({many})")
        first = bob.execute("SELECT unified_state.take_numbers(5)").fetchone()
        assert bob.execute("SELECT unified_state.take_numbers(0)").fetchone() == (first[0] + 5 if first else None,)


def test_what_he_locks_holds_her_up_only_for_a_while_and_then_everything_is_sent(
    team: Team, ada: PostgresStore, open_as: OpenAs
) -> None:
    """How long is set on her side: he holds all of this, and never lets go by himself."""
    query, told = HistoryQuery("swordfish"), {}
    elsewhere = open_as("ada", "another", user=team.ada, database=team.database)
    works: dict[str, Callable[[], Any]] = {
        "his turn to write": lambda: ada.append([session("next"), *turn(500, "next")]),
        "a table": lambda: elsewhere.append([session("next"), *turn(500, "next")]),
        "a table that is read": lambda: elsewhere.search(query),
    }

    def work(name: str) -> None:
        with pytest.raises(StorageError) as raised:
            works[name]()
        told[name] = raised.value

    with ExitStack() as held:
        for lock in ("SELECT unified_state.take_numbers(0)", "LOCK TABLE unified_state.step_words", *_ADVISORY):
            bob = held.enter_context(team.as_bob())
            held.enter_context(bob.transaction())
            bob.execute("SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0")
            bob.execute(lock)
        threads = [Thread(target=work, args=(name,)) for name in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(told) == set(works)
    for name in ("his turn to write", "a table"):
        assert "held up: another connection holds a lock" in told[name].message
        assert "the next sync sends it" in told[name].hint
    works_on(ada)
    assert elsewhere.append([session("next"), *turn(500, "next")]) == len(turn(500))


def test_he_locks_no_row_and_no_table_that_he_may_not_write(team: Team, ada: PostgresStore) -> None:
    with team.as_bob() as bob:
        for table in ("numbering", "version", "organisation", "member", "project"):
            for lock in (
                f"LOCK TABLE unified_state.{table} IN SHARE MODE",
                f"SELECT FROM unified_state.{table} FOR SHARE",
            ):
                with pytest.raises(team.server.refusals), bob.transaction():
                    bob.execute(lock.format(f"unified_state.{table}"))

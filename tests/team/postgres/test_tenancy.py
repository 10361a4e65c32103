"""Who may read whose history: nothing of another tenant's can be read, found, counted, changed, or inferred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.citus_server import CitusServer
from tests.contracts.contract import decision, session, step, steps_of, texts, uuid
from tests.postgres_kinds import on_every_engine
from tests.postgres_server import PostgresServer
from unified_state.errors import StorageError
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import Counts, HistoryQuery, StoredCompaction, StoredLink, Tombstone
from unified_state.team.postgres.schema.tables_sql import HISTORY_TABLES

if TYPE_CHECKING:
    from tests.team.postgres.conftest import OpenAs
    from unified_state.model.history_records import HistoryRecord

pytestmark = on_every_engine
SECRET: list[HistoryRecord] = [
    session(),
    step(1, "the swordfish of ada"),
    step(1, "the swordfish of ada", session_id="fork"),
    decision(1, "D1", "swordfish"),
    decision(2, "D1", "swordfish again"),
    StoredLink(uuid(1_000_001), uuid(1_000_002), "supersedes", "2026-01-01T00:00:00.000Z"),
    StoredCompaction("one", uuid(7), 1, summary="swordfish"),
    Tombstone("step", f"{uuid(9)}/0", 1),
]


def claim(connection: psycopg.Connection[Any], organisation: str, project: str, member: str) -> None:
    """Say by hand who one is, for the whole connection."""
    for name, value in (("organisation", organisation), ("project", project), ("member", member)):
        connection.execute("SELECT set_config(%s, %s, false)", [f"unified_state.{name}", value])
    connection.execute("SELECT set_config('unified_state.wanted', '!nothing', false)")


def count_all(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """How many rows of each table can be seen."""
    counted = {}
    for table in HISTORY_TABLES:
        (number,) = connection.execute(f"SELECT count(*) FROM unified_state.{table}").fetchone() or (0,)
        if number:
            counted[table] = number
    return counted


def test_the_owner_who_says_who_he_is_sees_his_own(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    open_as("ada").append(SECRET)
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        assert set(count_all(connection)) == set(HISTORY_TABLES) - {"common_word"}


@pytest.mark.parametrize(
    ("other_organisation", "project", "member"),
    [(True, "p", "ada"), (False, "another", "ada"), (False, "p", "nobody"), (True, "", ""), (False, "", "ada")],
)
def test_the_owner_of_the_tables_sees_nothing_of_another_tenant(
    postgres: PostgresServer, open_as: OpenAs, organisation: str, other_organisation: bool, project: str, member: str
) -> None:
    open_as("ada").append(SECRET)
    with postgres.connect() as connection:
        claim(connection, organisation + "x" * other_organisation, project, member)
        assert count_all(connection) == {}


def test_who_says_nothing_sees_nothing(postgres: PostgresServer, open_as: OpenAs) -> None:
    open_as("ada").append(SECRET)
    with postgres.connect() as connection:
        assert count_all(connection) == {}
        assert connection.execute("SELECT count(*) FROM unified_state.project").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM unified_state.member").fetchone() == (0,)


@pytest.mark.parametrize("of", ["", "another-organisation"])
def test_another_project_finds_and_counts_nothing(open_as: OpenAs, organisation: str, of: str) -> None:
    open_as("ada").append(SECRET)
    with open_as("ada", "another", of=f"{organisation}{of}") as other:
        assert list(everything(other)) == []
        assert other.counts() == Counts()
        assert other.search(HistoryQuery("swordfish")) == []
        assert other.find_steps(uuid(1)) == []
        assert other.find_items("D1") == []


def test_another_tenant_appends_the_same_and_learns_nothing_by_it(open_as: OpenAs, organisation: str) -> None:
    with open_as("ada") as ada, open_as("ada", of=f"{organisation}-2") as other, open_as("ada", "another") as project:
        assert ada.append(SECRET) == other.append(SECRET) == project.append(SECRET)
        assert list(everything(ada)) == list(everything(other)) == list(everything(project))
        assert steps_of_positions(ada) == steps_of_positions(other) == steps_of_positions(project)


def steps_of_positions(store: Any) -> list[int]:
    return [position for position, _ in store.steps("one")]


def test_what_one_tenant_forgets_the_other_keeps(open_as: OpenAs, organisation: str) -> None:
    with open_as("ada") as ada, open_as("ada", of=f"{organisation}-2") as other:
        ada.append(SECRET)
        other.append(SECRET)
        other.append([Tombstone("session", "one", 1 << 50), Tombstone("item", uuid(1_000_001), 1)])
        assert len(steps_of(ada)) == 1
        assert ada.find_items(uuid(1_000_001))


@pytest.mark.parametrize("table", HISTORY_TABLES)
def test_nothing_of_another_tenant_can_be_changed_or_put_in(
    postgres: PostgresServer, open_as: OpenAs, organisation: str, table: str
) -> None:
    ada = open_as("ada")
    ada.append(SECRET)
    before = list(everything(ada))
    open_as("ada", of=f"{organisation}-2").append(SECRET)
    with postgres.connect() as connection:
        claim(connection, f"{organisation}-2", "p", "ada")
        (theirs,) = connection.execute("SELECT unified_state.project()").fetchone() or (0,)
        claim(connection, organisation, "p", "ada")
        (hers,) = connection.execute("SELECT unified_state.project()").fetchone() or (0,)
        claim(connection, f"{organisation}-2", "p", "ada")
        assert connection.execute(f"UPDATE unified_state.{table} SET author = 1 WHERE project = {hers}").rowcount == 0
        assert connection.execute(f"DELETE FROM unified_state.{table} WHERE project = {hers}").rowcount == 0
        connection.execute(
            "INSERT INTO unified_state.common_word VALUES (%s, unified_state.author(), 'x', 1)", [theirs]
        )
        with pytest.raises(postgres.refusals):
            connection.execute(f"UPDATE unified_state.{table} SET project = {hers} WHERE project = {theirs}")
    assert list(everything(ada)) == before


def test_members_of_a_project_read_each_other(open_as: OpenAs) -> None:
    with open_as("ada") as ada, open_as("bob") as bob:
        ada.append([step(1, "the swordfish of ada"), decision(7, "D7")])
        bob.append([step(2, "the swordfish of bob", session_id="two"), decision(8, "D7", "Use PostgreSQL")])
        for store in (ada, bob):
            assert sorted(texts([hit.step for hit in store.search(HistoryQuery("swordfish"))])) == [
                "the swordfish of ada",
                "the swordfish of bob",
            ]
            assert store.counts() == Counts(sessions=2, steps=2, items=2)


def test_d7_of_two_people_are_two_and_ones_own_comes_first(open_as: OpenAs) -> None:
    with open_as("ada") as ada, open_as("bob") as bob:
        ada.append([decision(7, "D7")])
        bob.append([decision(8, "D7", "Use PostgreSQL")])
        assert [item.alias for item in ada.items()] == ["D7", "D7"]
        assert [item.uuid for item in ada.find_items("D7")] == [uuid(1_000_007), uuid(1_000_008)]
        assert [item.uuid for item in bob.find_items("D7")] == [uuid(1_000_008), uuid(1_000_007)]


def test_of_an_item_that_two_people_have_ones_own_is_found(open_as: OpenAs) -> None:
    with open_as("ada") as ada, open_as("bob") as bob:
        ada.append([decision(7, "D7")])
        bob.append([decision(7, "D9", "Use PostgreSQL")])
        assert [store.find_items(uuid(1_000_007))[0].alias for store in (ada, bob)] == ["D7", "D9"]


def test_a_member_changes_nothing_of_anothers(open_as: OpenAs) -> None:
    with open_as("ada") as ada, open_as("bob") as bob:
        ada.append([step(1), decision(1, "D1")])
        bob.append([Tombstone("step", f"{uuid(1)}/0", 1), Tombstone("item", uuid(1_000_001), 1)])
        assert (ada.counts().steps, ada.counts().items) == (1, 1)
        assert bob.append([step(1)]) == 0  # he forgot his own


@pytest.mark.parametrize(
    "who", ["UPDATE unified_state.organisation SET shares = false", "SELECT unified_state.share(false)"]
)
def test_what_is_not_shared_is_its_authors_alone(
    postgres: PostgresServer, open_as: OpenAs, organisation: str, who: str
) -> None:
    with open_as("ada") as ada, open_as("bob") as bob:
        ada.append(SECRET)
        with postgres.connect() as connection:
            claim(connection, organisation, "p", "ada")
            connection.execute(who)
            claim(connection, organisation, "p", "bob")
            assert set(count_all(connection)) <= {"volume"}
        assert list(everything(bob)) == []
        assert bob.search(HistoryQuery("swordfish")) == []
        assert bob.find_steps(uuid(1)) + bob.find_items("D1") == []
        assert bob.append(SECRET) == ada.append(SECRET) + 7
        assert steps_of(ada)


def test_a_member_that_is_bound_to_a_role_is_nobody_elses(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    hers, his = postgres.role(), postgres.role()
    open_as("ada", of="elsewhere-" + organisation)  # the schema is there
    with postgres.connect() as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [hers, organisation])
        owner.execute("SELECT unified_state.admit(%s, %s, 'bob')", [his, organisation])
    open_as("ada", user=hers).append(SECRET)
    assert open_as("bob", user=his).search(HistoryQuery("swordfish"))
    for member in ("ada", "carol"):
        with pytest.raises(StorageError, match="no member of"):
            open_as(member, user=his)
    with pytest.raises(StorageError, match="no member of"):
        open_as("ada")  # the owner is not ada either
    with postgres.connect(user=his) as connection:
        claim(connection, organisation, "p", "ada")
        assert count_all(connection) == {}


def test_who_was_admitted_to_an_organisation_is_nobody_in_another_one(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    """Though there a name is enough, for whoever has the owner's DSN."""
    admitted = postgres.role()
    open_as("bob").append(SECRET)
    with postgres.connect() as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [admitted, "another-" + organisation])
    with postgres.connect(user=admitted) as connection:
        claim(connection, organisation, "p", "bob")
        assert count_all(connection) == {}
    for member in ("bob", "carol"):
        with pytest.raises(StorageError, match="no member of"):
            open_as(member, user=admitted)


def test_a_reader_reads_and_changes_nothing(postgres: PostgresServer, open_as: OpenAs, organisation: str) -> None:
    writer, reader = postgres.role(), postgres.role()
    open_as("ada", of="elsewhere-" + organisation)
    with postgres.connect() as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [writer, organisation])
        owner.execute("SELECT unified_state.admit(%s, %s, 'ci', false)", [reader, organisation])
    with pytest.raises(StorageError, match="may only read"):
        open_as("ci", user=reader)
    ada = open_as("ada", user=writer)
    ada.append(SECRET)
    with open_as("ci", user=reader) as store:
        assert list(everything(store)) == list(everything(ada))
        assert store.search(HistoryQuery("swordfish"))
        with pytest.raises(StorageError, match="permission denied"):
            store.append([step(5)])


def test_who_may_only_read_is_told_so_when_he_writes(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    role = postgres.role()
    open_as("ada", of="elsewhere-" + organisation)
    with postgres.connect() as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [role, organisation])
        open_as("ada", user=role).append([step(1)])
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada', false)", [role, organisation])
    with pytest.raises(StorageError, match=r"'ada' may only read: .*permission denied") as raised:
        open_as("ada", user=role).append([step(2)])
    assert "SELECT unified_state.admit" in raised.value.hint
    assert steps_of(open_as("ada", user=role)) == [step(1)]


def test_whom_nobody_admitted_may_not_even_look(postgres: PostgresServer, open_as: OpenAs) -> None:
    open_as("ada").append(SECRET)
    with pytest.raises(StorageError, match="permission denied") as raised:
        open_as("ada", user=postgres.role())
    assert "administrator" in raised.value.hint


def test_a_superuser_is_refused_since_nothing_holds_him_back(open_as: OpenAs) -> None:
    with pytest.raises(StorageError, match="superuser"):
        open_as("ada", user="postgres")


def test_the_index_of_words_is_used_though_a_policy_hides_rows(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    open_as("ada").append([step(number, f"word{number} and others") for number in range(3000)])
    with postgres.connect() as connection:
        connection.execute("ANALYZE unified_state.step_words")  # as the server does by itself, but at no certain time
        claim(connection, organisation, "p", "ada")
        connection.execute("SELECT set_config('unified_state.wanted', 'word7', false)")
        here: object = "unified_state.project()"
        if isinstance(postgres, CitusServer):  # which plans for one node where it knows the project
            (here,) = connection.execute("SELECT unified_state.project()").fetchone() or (0,)
        rows = connection.execute(
            f"EXPLAIN SELECT number FROM unified_state.step_words WHERE project = {here} "
            "ORDER BY number + 0 DESC LIMIT 100"
        ).fetchall()
    plan = "\n".join(row[0] for row in rows)
    assert "Bitmap Index Scan on step_words" in plan
    assert "Filter: (words @@" not in plan

"""Members find each other's decisions, constraints, questions and failed attempts, as far as they share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.contracts.contract import decision, session, step, turn, uuid
from tests.postgres_kinds import on_every_engine
from tests.team.postgres.test_tenancy import claim
from unified_state.model.history_records import StoredItem, StoredLink

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs
    from unified_state.team.postgres.postgres_store import PostgresStore

pytestmark = on_every_engine
TIME, LATER = "2026-01-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z"
_MAIN = {"decision": "decision", "constraint": "constraint", "question": "question", "attempt": "attempt"}


def item(number: int, kind: str, text: str, created_at: str = TIME) -> StoredItem:
    letter = {"decision": "D", "constraint": "C", "question": "Q", "attempt": "A", "evidence": "E"}[kind]
    body = {_MAIN.get(kind, "content"): text, "rationale": "because"}
    return StoredItem(
        uuid=uuid(10_000 + number),
        alias=f"{letter}{number}",
        kind=kind,
        body=body,
        status="active",
        origin="user_said",
        created_at=created_at,
    )


def found(store: PostgresStore, text: str) -> list[tuple[str | None, str]]:
    return [(hit.said_by, hit.item.alias) for hit in store.team.search(text, 10)]


def test_every_kind_but_evidence_is_found_with_whom_it_is_of(open_as: OpenAs) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    kinds = ("decision", "constraint", "question", "attempt", "evidence")
    ada.append([item(number, kind, f"the swordfish {kind}") for number, kind in enumerate(kinds, 1)])
    assert sorted(found(bob, "swordfish")) == [("ada", name) for name in ("A4", "C2", "D1", "Q3")]
    assert found(ada, "swordfish") == []  # one's own are in one's archive


def test_the_item_with_the_most_words_comes_first_and_words_are_split_as_in_steps(open_as: OpenAs) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    ada.append([item(1, "decision", "Retry twice"), item(2, "decision", "Retry load_settings after 8 s: café 設定")])
    assert found(bob, "retry settings") == [("ada", "D2"), ("ada", "D1")]
    assert found(bob, "cafe") == found(bob, "設定") == [("ada", "D2")]


def test_a_changed_item_is_found_by_its_new_words_alone(open_as: OpenAs) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    first = item(1, "decision", "Use port 8080")
    ada.append([first])
    ada.append([first.replace(body={"decision": "Use a socket"}, changed_at=LATER)])
    assert (found(bob, "port"), found(bob, "socket")) == ([], [("ada", "D1")])


def test_numbers_name_items_and_steps_and_lead_to_the_source(open_as: OpenAs) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    ada.append([session("one"), step(1, "Please use a socket"), item(1, "decision", "Use a socket").replace(
        source_uuid=uuid(1), quote="use a socket", session_id="one"
    )])  # fmt: skip
    (hit,) = bob.team.search("socket", 5)
    assert bob.team.find_item(hit.number) == hit.replace(score=1.0)
    (source,) = bob.team.find_source(hit)
    assert (source.said_by, source.step.text) == ("ada", "Please use a socket")
    assert bob.team.find_step(source.number) == source
    assert (bob.team.find_step(hit.number), bob.team.find_item(source.number)) == (None, None)


def test_who_does_not_share_is_not_found(postgres: PostgresServer, open_as: OpenAs, organisation: str) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    ada.append([item(1, "decision", "swordfish")])
    (hit,) = bob.team.search("swordfish", 5)
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("SELECT unified_state.share(false)")
    assert found(bob, "swordfish") == []
    assert bob.team.find_item(hit.number) is None
    assert open_as("eve", of=f"another-{organisation}").team.search("swordfish", 5) == []
    assert open_as("eve", of=f"another-{organisation}").team.find_item(hit.number) is None


def test_items_from_before_stay_private_until_their_member_agrees(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    ada.team.set_since(LATER)
    early, late = item(1, "decision", "early swordfish"), item(2, "decision", "late swordfish", LATER)
    ada.append([early, late, StoredLink(late.uuid, early.uuid, "supersedes", TIME)])
    assert found(bob, "swordfish") == [("ada", "D2")]
    assert bob.find_items("D1") == bob.find_items(early.uuid) == list(bob.links()) == []
    assert ada.team.count_private() == 1
    ada.append([early.replace(body={"decision": "early swordfish, changed"}, changed_at=LATER)])
    open_as("ada").append([early.replace(body={"decision": "early swordfish again"}, changed_at=f"{LATER}1")])
    assert found(bob, "early") == []  # not even what an archive sends that knows of no earlier version
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("SELECT unified_state.share_earlier(true)")
    assert sorted(found(bob, "swordfish")) == [("ada", "D1"), ("ada", "D2")]
    assert (len(bob.find_items("D1")), len(list(bob.links())), ada.team.count_private()) == (1, 1, 0)


def test_rows_from_before_the_server_knew_words_are_private_and_indexed_by_the_next_sync(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    ada.append([item(number, "decision", f"swordfish {number}") for number in range(1, 600)])
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        connection.execute("UPDATE unified_state.item SET words = NULL, shared = false")
        ada.team.fill_in_words()
        assert (ada.team.count_private(), found(bob, "swordfish 7")) == (599, [])
        connection.execute("SELECT unified_state.share_earlier(true)")
    assert found(bob, "swordfish 7")[0] == ("ada", "D7")


def test_a_hostile_member_reads_no_private_item_and_changes_none(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    """By psql: what he claims, asks and joins; a leaky function of his own sees no row either."""
    database, ada_role, bob_role = postgres.database(), postgres.role(), postgres.role()
    open_as("grace", of="another", dbname=database)
    with postgres.connect(database) as owner:
        for role, member in ((ada_role, "ada"), (bob_role, "bob")):
            owner.execute("SELECT unified_state.admit(%s, %s, %s)", [role, organisation, member])
    ada = open_as("ada", user=ada_role, dbname=database)
    ada.team.set_since(LATER)
    ada.append([*turn(1, "one"), item(1, "decision", "early swordfish"), item(2, "decision", "late", LATER)])
    open_as("bob", user=bob_role, dbname=database).append([decision(9, "D9")])
    with postgres.admin(database) as superuser:
        superuser.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    with postgres.connect(database, bob_role) as bob:
        bob.execute(_LEAKY)
        for member in ("bob", "ada"):
            claim(bob, organisation, "p", member)
            for statement in _READING:
                assert "early" not in str(_rows(bob, statement)), statement
            for statement in _CHANGING:
                _rows(bob, statement)
        claim(bob, organisation, "p", "bob")
        assert bob.execute("SELECT count(*) FROM unified_state.item").fetchone() == (2,)
        assert [notice for notice in _notices(bob) if "early" in notice] == []
    assert ada.team.count_private() == 1
    assert [one.alias for one in ada.items() if one.alias in {"D1", "D2"}] == ["D1", "D2"]


_LEAKY = """
CREATE FUNCTION public.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
    $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$
"""
_READING = (
    "SELECT * FROM unified_state.item",
    "SELECT * FROM unified_state.item WHERE public.leak(record)",
    "SELECT words::text FROM unified_state.item WHERE words @@ 'earli'::tsquery",
    "SELECT * FROM unified_state.item_alias JOIN unified_state.item USING (project, author, uuid)",
    "SELECT alias FROM unified_state.item_alias WHERE alias = 'D1'",
    "SELECT * FROM ts_stat('SELECT words FROM unified_state.item')",
    "COPY unified_state.item TO STDOUT",
    "UPDATE unified_state.item SET shared = shared RETURNING record",
    "DELETE FROM unified_state.item WHERE public.leak(record) AND alias <> 'D9' RETURNING record",
)
_CHANGING = (
    "SELECT unified_state.share_earlier(true)",
    "UPDATE unified_state.item SET shared = true WHERE alias <> 'D9'",
    "UPDATE unified_state.item_alias SET shared = true WHERE alias <> 'D9'",
    "UPDATE unified_state.member SET shares_earlier = true",
    "UPDATE unified_state.version SET server = 'harm'",
    "ALTER TABLE unified_state.item ALTER shared SET DEFAULT true",
    "ALTER POLICY readable ON unified_state.item USING (true)",
)


def _rows(connection: psycopg.Connection[Any], statement: str) -> list[Any]:
    try:
        if statement.startswith("COPY"):
            with connection.cursor().copy(statement.encode()) as copy:
                return list(copy)
        return connection.execute(statement).fetchall()
    except psycopg.Error:
        return []


def _notices(connection: psycopg.Connection[Any]) -> list[str]:
    told: list[str] = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    connection.execute("SET client_min_messages = notice")
    _rows(connection, "SELECT count(*) FROM unified_state.item WHERE public.leak(record)")
    assert told  # his own, and what is shared
    return told


@pytest.mark.parametrize("text", ["", "!!!", "' | :*", "\\", "\0"])
def test_any_text_is_a_query(open_as: OpenAs, text: str) -> None:
    ada, bob = open_as("ada"), open_as("bob")
    ada.append([item(1, "decision", "swordfish")])
    assert bob.team.search(text, 5) == []

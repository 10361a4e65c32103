"""A server on which a member set the last number back is repaired: nothing is lost, told twice, or held up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.contracts.contract import decision, session, step, steps_of, texts
from tests.postgres_kinds import on_every_server
from tests.team.postgres.old_schema import make_old
from tests.team.postgres.test_tenancy import claim
from unified_state.lib.record import Record
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import HistoryQuery, StoredCompaction

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs
    from unified_state.model.history_records import HistoryRecord

pytestmark = on_every_server
SESSIONS = {"early": range(1, 9), "late": range(11, 19), "beside": range(12, 20)}  # the last two at the same time
HERS: list[HistoryRecord] = [
    *(
        session(name).replace(started_at=step(numbers[0]).at, seen_at=step(numbers[-1]).at)
        for name, numbers in SESSIONS.items()
    ),
    *(
        step(number + place * 100, f"the {name} swordfish{number}", session_id=name, at=step(number).at)
        for place, (name, numbers) in enumerate(SESSIONS.items())
        for number in numbers
    ),
    *(
        step(number, f"the early swordfish{number}", session_id="fork", at=step(number).at)
        for number in SESSIONS["early"]
    ),
    decision(1, "D1"),
    decision(2, "D2", "Use PostgreSQL"),
    StoredCompaction("early", "b1", 1, summary="swordfish"),
    StoredCompaction("late", "b2", 2, summary="swordfish"),
]


class Damaged(Record):
    """A database of the old version, and the roles of two members."""

    database: str
    ada: str
    bob: str


@pytest.fixture
def damaged(postgres: PostgresServer, organisation: str, open_as: OpenAs) -> Damaged:
    """Ada's history, after Bob set the last number back and before the schema is brought up to date."""
    new, hers, his = postgres.database(has_vectors=False), postgres.role(), postgres.role()
    open_as("grace", of="another", database=new)
    with postgres.connect(new) as owner:
        owner.execute("SELECT unified_state.admit(%s, %s, 'ada')", [hers, organisation])
        owner.execute("SELECT unified_state.admit(%s, %s, 'bob')", [his, organisation])
    with open_as("ada", user=hers, database=new) as ada, open_as("bob", user=his, database=new) as bob:
        ada.append(HERS)
        ada.marks.keep("laptop", 7)
        bob.append([session("his"), step(900, "of bob", session_id="his"), decision(9, "D1")])
        bob.marks.keep("tower", 3)
    database = make_old(postgres, new)
    with postgres.connect(database, his) as bob:
        claim(bob, organisation, "p", "bob")
        assert bob.execute("UPDATE unified_state.numbering SET last = 0").rowcount == 1
    with postgres.admin(database) as superuser:
        superuser.execute(_DAMAGE)
    return Damaged(database, hers, his)


# What the old program wrote then: all sessions of Ada have the number of her first one, and so have their steps; the
# session of Bob, too. Of two steps with one number only the first has words. So it is with items and compactions.
_DAMAGE = """
CREATE TEMPORARY TABLE first AS SELECT session.number, author FROM unified_state.session WHERE session_id = 'early';
UPDATE unified_state.step SET session = first.number FROM first WHERE step.session IN (
    SELECT number FROM unified_state.session) AND step.author = first.author;
UPDATE unified_state.step SET session = first.number FROM first WHERE step.author <> first.author;
UPDATE unified_state.step_copy SET session = first.number FROM first;
UPDATE unified_state.session SET number = first.number FROM first;
UPDATE unified_state.item SET number = (SELECT min(number) FROM unified_state.item);
UPDATE unified_state.compaction SET number = (SELECT min(number) FROM unified_state.compaction);
DELETE FROM unified_state.step_words WHERE number = (SELECT max(number) FROM unified_state.step WHERE author = (
    SELECT author FROM first));
UPDATE unified_state.step SET number = (SELECT min(number) FROM unified_state.step) WHERE number = (
    SELECT max(number) FROM unified_state.step WHERE author = (SELECT author FROM first));
UPDATE unified_state.link SET number = 9223372036854775807;
INSERT INTO unified_state.common_word SELECT project, author, 'swordfish', 'NaN' FROM unified_state.volume;
"""


def repaired(damaged: Damaged, open_as: OpenAs) -> dict[str, Any]:
    """The owner opens it with this version; how the others reach it from then on."""
    open_as("grace", of="another", database=damaged.database).close()
    return {"dbname": damaged.database}


def told(store: Any) -> list[str]:
    """The texts of all steps of a store, with the sessions in which they are told, and its other records."""
    return sorted(repr(record) for record in everything(store))


def test_every_step_is_still_there_and_told_once(damaged: Damaged, open_as: OpenAs) -> None:
    with open_as("ada", user=damaged.ada, **repaired(damaged, open_as), own_only=True) as ada:
        found = [text for name in SESSIONS for text in texts(steps_of(ada, name))]
        assert sorted(found) == sorted({one.text for one in HERS if hasattr(one, "text")})
        assert texts(steps_of(ada, "early")) == [f"the early swordfish{number}" for number in SESSIONS["early"]]
        assert ada.counts().items == ada.counts().compactions == 2


def test_after_the_authors_next_sync_everything_is_exactly_as_it_was(
    postgres: PostgresServer, damaged: Damaged, open_as: OpenAs, organisation: str
) -> None:
    with open_as("ada", user=damaged.ada, **repaired(damaged, open_as), own_only=True) as ada:
        assert ada.marks.read("laptop") == 0  # so that her archive tells everything again
        ada.append(HERS)
        with open_as("ada", of=f"{organisation}-sound") as sound:
            sound.append(HERS)
            assert told(ada) == told(sound)
            for name in SESSIONS:
                assert steps_of(ada, name) == steps_of(sound, name)
        for word in ("swordfish1", "swordfish8", "swordfish19"):
            expected = {one.text for one in HERS if hasattr(one, "text") and word in one.text.split()}
            assert {hit.step.text for hit in ada.search(HistoryQuery(word))} == expected
        with postgres.admin(damaged.database) as connection:
            assert connection.execute("SELECT count(*) FROM unified_state.step WHERE session_guessed").fetchone() == (
                0,
            )


def test_whoever_was_not_harmed_is_told_as_before_and_not_asked_again(damaged: Damaged, open_as: OpenAs) -> None:
    with open_as("bob", user=damaged.bob, **repaired(damaged, open_as), own_only=True) as bob:
        assert steps_of(bob, "his") == [step(900, "of bob", session_id="his")]
        assert bob.marks.read("tower") == 3


def test_syncs_go_on_and_no_two_rows_share_a_number(
    postgres: PostgresServer, damaged: Damaged, open_as: OpenAs
) -> None:
    with open_as("ada", user=damaged.ada, **repaired(damaged, open_as)) as ada:
        assert ada.append([session("next"), step(500, session_id="next"), decision(5, "D5")]) == 2
        assert steps_of(ada, "next") == [step(500, session_id="next")]
    with postgres.admin(damaged.database) as connection:
        for table in ("session", "step", "item", "compaction"):
            assert connection.execute(
                f"SELECT count(*) - count(DISTINCT number) FROM unified_state.{table}"
            ).fetchone() == (0,)


def test_the_right_to_write_numbers_is_gone(
    postgres: PostgresServer, damaged: Damaged, open_as: OpenAs, organisation: str
) -> None:
    repaired(damaged, open_as)
    with postgres.connect(damaged.database, damaged.bob) as bob:
        claim(bob, organisation, "p", "bob")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            bob.execute("UPDATE unified_state.numbering SET last = 0")


def test_the_repair_is_done_once(damaged: Damaged, open_as: OpenAs) -> None:
    with open_as("ada", user=damaged.ada, **repaired(damaged, open_as), own_only=True) as ada:
        before = told(ada)
        repaired(damaged, open_as)
        assert told(ada) == before

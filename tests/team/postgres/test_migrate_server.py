"""A schema of an older version goes on with all that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.contract import step, steps_of, texts
from tests.team.postgres.old_schema import WITHOUT_SHARED_ITEMS
from tests.team.postgres.test_tenancy import claim
from unified_state.errors import StorageError
from unified_state.model.history_records import HistoryQuery
from unified_state.team.postgres.schema.server_migrations import SCHEMA_VERSION, VERSION, migrations
from unified_state.team.postgres.schema.tables_sql import HISTORY_TABLES

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs


@pytest.fixture
def first_version(postgres: PostgresServer, organisation: str) -> tuple[str, str]:
    """A database with a schema of the first version, whose project has given 41 numbers, and a role admitted to it."""
    database, role = postgres.database(has_vectors=False), postgres.role()
    with postgres.connect(database) as owner:
        owner.execute(VERSION + migrations(distributed=False)[0])
        owner.execute("INSERT INTO unified_state.version (number) VALUES (1)")
        claim(owner, organisation, "p", "ada")
        owner.execute("INSERT INTO unified_state.organisation VALUES (%s)", [organisation])
        owner.execute("INSERT INTO unified_state.member VALUES (%s, 1, 'ada', %s)", [organisation, role])
        owner.execute("INSERT INTO unified_state.project VALUES (7, %s, 'p', 41)", [organisation])
        for table in HISTORY_TABLES:
            owner.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON unified_state.{table} TO {role}")
        owner.execute(f"GRANT USAGE ON SCHEMA unified_state TO {role}")
        owner.execute(f"GRANT SELECT ON unified_state.version, unified_state.project TO {role}")
        owner.execute(f"GRANT UPDATE (last) ON unified_state.project TO {role}")
    return database, role


def test_numbers_go_on_and_who_was_admitted_remains_so(
    postgres: PostgresServer, open_as: OpenAs, organisation: str, first_version: tuple[str, str]
) -> None:
    database, role = first_version
    open_as("grace", of="another", dbname=database)
    with open_as("ada", user=role, dbname=database) as store:
        assert store.append([step(1), step(2)]) == 2
        assert steps_of(store) == [step(1), step(2)]
        assert [number for number, _ in store.steps("one")] == [43, 44]  # the session has the 42nd
    with postgres.connect(database) as owner:
        assert owner.execute("SELECT max(number) FROM unified_state.version").fetchone() == (SCHEMA_VERSION,)


def test_whoever_may_not_bring_a_schema_up_to_date_is_told_whom_to_ask(
    open_as: OpenAs, first_version: tuple[str, str]
) -> None:
    database, role = first_version
    with pytest.raises(StorageError, match="has schema version 1, which is too old") as raised:
        open_as("ada", user=role, dbname=database)
    assert "its owner opens it once with this version" in raised.value.hint


def test_a_member_who_holds_an_advisory_lock_keeps_nobody_from_bringing_a_schema_up_to_date(
    postgres: PostgresServer, open_as: OpenAs, first_version: tuple[str, str], alarm: None
) -> None:
    database, role = first_version
    with postgres.connect(database, role) as member:
        member.execute("SELECT pg_advisory_lock(1970170214)")  # the key that was once used
        open_as("grace", of="another", dbname=database)


def test_vectors_of_an_older_version_are_found_and_no_other_members_row_keeps_new_ones_out(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    database = postgres.database()
    store = open_as("ada", dbname=database)
    store.append([step(1, "about cats"), step(2, "about dogs")])
    assert store.vectors.add("model", [(step(1).uuid, 0, [1.0, 0.0])]) == 1
    with postgres.connect(database) as owner:
        owner.execute(WITHOUT_SHARED_ITEMS + _OLD_VECTORS)
    with open_as("ada", dbname=database) as store:
        assert store.vectors.add("model", [(step(2).uuid, 0, [0.0, 1.0])]) == 1
        query = HistoryQuery("", vector=(0.9, 0.1), model="model")
        assert texts([hit.step for hit in store.search(query)]) == ["about cats", "about dogs"]
    with postgres.admin(database) as superuser:
        key = superuser.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'step_vector_pkey'"
        ).fetchone()
    assert key == ("PRIMARY KEY (project, number, model, author)",)


# The fourth version, as far as it matters to vectors.
_OLD_VECTORS = """
DELETE FROM unified_state.version WHERE number > 4;
ALTER TABLE unified_state.step DROP COLUMN session_guessed;
ALTER TABLE unified_state.step_vector DROP CONSTRAINT step_vector_pkey, ADD PRIMARY KEY (project, number, model);
DROP INDEX unified_state.session_by_number, unified_state.item_by_number, unified_state.compaction_by_number;
DO $$
DECLARE
    checked text;
BEGIN
    FOREACH checked IN ARRAY ARRAY['session', 'step', 'item', 'compaction'] LOOP
        EXECUTE format('ALTER POLICY insertable ON unified_state.%I WITH CHECK (true)', checked);
        EXECUTE format('ALTER POLICY changeable ON unified_state.%I WITH CHECK (true)', checked);
    END LOOP;
END $$;
DROP FUNCTION unified_state.given;
DROP FUNCTION unified_state.nearest, unified_state.take_numbers;
CREATE FUNCTION unified_state.nearest(
    asked text, of_dimensions integer, of_model text, sessions bigint[], of_kind text, of_tool text, since bigint,
    until bigint, most integer
) RETURNS TABLE (step bigint, score double precision) LANGUAGE sql AS 'SELECT 1::bigint, 1::double precision';
"""

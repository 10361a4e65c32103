"""A schema of an older version goes on with all that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.storage.tiers.postgres.test_tenancy import claim
from unified_state.errors import StorageError
from unified_state.storage.tiers.contracts.contract import step, steps_of
from unified_state.storage.tiers.postgres.schema import SCHEMA_VERSION, VERSION, migrations
from unified_state.storage.tiers.postgres.schema_history import HISTORY_TABLES

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.storage.tiers.postgres.conftest import OpenAs


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

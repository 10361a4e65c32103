"""A server with the schema of version 4, in which every member could write `numbering`, and what a member did there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unified_state.team.postgres.schema.server_migrations import DISTRIBUTED_TABLES, VERSION, migrations

if TYPE_CHECKING:
    from psycopg import Connection

    from tests.postgres_server import PostgresServer

OLD_VERSION = 4
_TABLES = ("organisation", "member", "project", *DISTRIBUTED_TABLES)
_COLUMNS = """
SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
# Takes back what version 6 brings.
WITHOUT_SHARED_ITEMS = """
DO $$
DECLARE
    changed text;
BEGIN
    FOREACH changed IN ARRAY ARRAY['item', 'item_alias', 'link'] LOOP
        EXECUTE format('ALTER POLICY readable ON unified_state.%I USING (true)', changed);
        EXECUTE format('ALTER TABLE unified_state.%I DROP COLUMN shared', changed);
    END LOOP;
END $$;
ALTER TABLE unified_state.item DROP COLUMN words;
ALTER TABLE unified_state.member DROP COLUMN shares_earlier;
ALTER TABLE unified_state.version DROP COLUMN server;
DROP FUNCTION unified_state.open_authors;
DELETE FROM unified_state.version WHERE number > 5;
"""


def make_old(server: PostgresServer, new: str) -> str:
    """A database of the old version with all rows and members of a new one; its name."""
    old = server.database(has_vectors=False)
    with server.connect(old) as owner:
        for number, migration in enumerate(migrations(distributed=False)[:OLD_VERSION], 1):
            owner.execute(VERSION * (number == 1) + migration)
            owner.execute("INSERT INTO unified_state.version (number) VALUES (%s)", [number])
    with server.admin(old) as target, server.admin(new) as source:
        for table in _TABLES:
            _copy_rows(source, target, f"unified_state.{table}")
        target.execute("SET ROLE unified_state")
        for (role,) in source.execute(
            "SELECT DISTINCT role FROM unified_state.member WHERE role IS NOT NULL"
        ).fetchall():
            given = ", ".join(f"unified_state.{table}" for table in DISTRIBUTED_TABLES)
            target.execute(f"GRANT USAGE ON SCHEMA unified_state TO {role}")
            target.execute(f"GRANT SELECT ON unified_state.version, {given} TO {role}")
            target.execute(f"GRANT INSERT, UPDATE, DELETE ON {given} TO {role}")
    return old


def _copy_rows(source: Connection[Any], target: Connection[Any], table: str) -> None:
    names = [name for (name,) in target.execute(_COLUMNS, [table]).fetchall()]
    rows = source.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
    places = ", ".join(["%s"] * len(names))
    with target.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)

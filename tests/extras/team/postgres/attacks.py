"""What a hostile member tries with psql, read off the catalog: so a new table, column or function is tried too."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

_RELATIONS = """
SELECT oid::regclass::text, (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)
FROM pg_class AS c WHERE relnamespace = 'unified_state'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
"""
_FUNCTIONS = """
SELECT oid::regprocedure::text, oid::regproc::text, ARRAY(SELECT t::regtype::text FROM unnest(proargtypes) AS t)
FROM pg_proc WHERE pronamespace = 'unified_state'::regnamespace
"""
_POLICIES = "SELECT polname::text, polrelid::regclass::text FROM pg_policy"
_MODES = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")
_ARGUMENTS = {
    "bigint": ("{project}", "{elsewhere}", "NULL"),
    "integer": ("1000000", "NULL"),
    "text": ("'{other_organisation}'", "'{group}'", "NULL"),
    "tsquery": ("'swordfish'", "'!nothing'", "NULL"),
    "tsquery[]": ("ARRAY['swordfish'::tsquery]", "NULL"),
    "double precision[]": ("ARRAY['NaN'::double precision]", "NULL"),
}
_ON_A_TABLE = """
DELETE FROM {table}
TRUNCATE {table} CASCADE
COPY {table} FROM PROGRAM 'true'
COPY {table} TO '/tmp/stolen'
INSERT INTO {table} SELECT * FROM {table}
INSERT INTO {table} SELECT * FROM {table} ON CONFLICT DO NOTHING
ALTER TABLE {table} DISABLE ROW LEVEL SECURITY
ALTER TABLE {table} OWNER TO {role}
ALTER TABLE {table} RENAME TO lost
ALTER TABLE {table} ADD COLUMN harm integer
DROP TABLE {table} CASCADE
GRANT ALL ON {table} TO {role}
GRANT ALL ON {table} TO PUBLIC
REVOKE ALL ON {table} FROM "{group}"
CREATE POLICY harm ON {table} USING (true)
CREATE TRIGGER harm BEFORE INSERT ON {table} EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()
CREATE RULE harm AS ON INSERT TO {table} DO INSTEAD NOTHING
CREATE INDEX harm ON {table} ((1 / 0))
CREATE STATISTICS harm ON ctid, tableoid FROM {table}
CREATE TABLE public.pointing (p bigint REFERENCES {table})
REINDEX TABLE {table}
SELECT nextval('{table}')
SELECT setval('{table}', 1)
"""
_ON_THE_SERVER = """
CREATE TABLE unified_state.harm (x integer)
CREATE TABLE public.harm (x integer)
CREATE TEMPORARY TABLE harm (x integer)
CREATE FUNCTION pg_temp.harm() RETURNS void LANGUAGE sql AS ''
CREATE FUNCTION unified_state.harm() RETURNS void LANGUAGE sql AS ''
ALTER SCHEMA unified_state RENAME TO lost
DROP SCHEMA unified_state CASCADE
GRANT ALL ON SCHEMA unified_state TO {role}
REVOKE USAGE ON SCHEMA unified_state FROM "{group}"
GRANT {victim} TO {role}
GRANT "{group}" TO {stranger}
GRANT "{others}" TO {role}
GRANT unified_state TO {role}
SET ROLE {victim}
SET ROLE unified_state
SET SESSION AUTHORIZATION {victim}
SET row_security = off
SET session_replication_role = replica
ALTER ROLE {victim} NOLOGIN
ALTER ROLE {victim} SET search_path = harm
ALTER ROLE {role} BYPASSRLS
ALTER ROLE {role} RENAME TO renamed
ALTER ROLE {role} CONNECTION LIMIT 1000
ALTER ROLE {role} SET temp_file_limit = -1
ALTER DATABASE {database} SET search_path = harm
ALTER SYSTEM SET lock_timeout = 0
DROP OWNED BY {victim}
DROP OWNED BY "{group}" CASCADE
REASSIGN OWNED BY "{group}" TO {role}
SET ROLE "{group}"; ALTER ROLE "{group}" LOGIN
SET ROLE "{group}"; SELECT * FROM unified_state.record
PREPARE TRANSACTION 'harm'
CREATE SCHEMA "{role}"
CREATE OPERATOR public.@@ (LEFTARG = tsvector, RIGHTARG = tsquery, FUNCTION = pg_catalog.ts_match_vq)
SET search_path = public; SELECT * FROM unified_state.record
SET temp_file_limit = -1
LISTEN "unified_state"; NOTIFY "unified_state", 'harm'
COPY (SELECT * FROM unified_state.record) TO PROGRAM 'true'
SELECT lo_create(0)
SELECT lo_from_bytea(0, 'harm')
SELECT lo_import('/etc/passwd')
SELECT pg_advisory_lock(1)
SELECT pg_try_advisory_lock_shared(1, 2)
SELECT pg_advisory_xact_lock(1)
SELECT pg_read_file('/etc/passwd')
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{victim}'
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'unified_state'
"""
# Rows under the victim's name, rows of another project, and his own under hers.
_FORGED = """
INSERT INTO unified_state.record (project, author, id, kind, at, version, archive, body) VALUES ({project}, 'ada', gen_random_uuid(), 'step', 1, 1, 'x', 'forged')
INSERT INTO unified_state.record (project, author, id, kind, at, version, archive, body) SELECT project, author, id, 'gone', 0, 4611686018427387904, 'x', '' FROM unified_state.record ON CONFLICT (project, author, id) DO UPDATE SET kind = 'gone', version = 4611686018427387904
INSERT INTO unified_state.record (project, author, id, kind, at, version, archive, body) VALUES ({elsewhere}, 'bob', gen_random_uuid(), 'step', 1, 1, 'x', 'forged')
UPDATE unified_state.record SET author = 'ada'
UPDATE unified_state.record SET project = {elsewhere}
INSERT INTO unified_state.project (organisation, name) VALUES ('{other_organisation}', 'mine')
INSERT INTO unified_state.project (organisation, name, former) VALUES ('{organisation}', 'mine', ARRAY['github.com/acme/app'])
INSERT INTO unified_state.project (id, organisation, name) OVERRIDING SYSTEM VALUE VALUES ({elsewhere}, '{organisation}', 'theirs')
INSERT INTO unified_state.membership VALUES ('{other_organisation}', 'bob', '{role}', true, NULL)
"""  # noqa: E501  # a statement a line
_LOCKS = ("ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE")


def attacks(catalog: Connection[Any], given: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Groups of statements, each with what it is about."""
    for table, columns in catalog.execute(_RELATIONS).fetchall():
        tried = [line.format(**given, table=table) for line in _ON_A_TABLE.strip().splitlines()]
        tried += [f"SELECT * FROM {table} FOR {mode}" for mode in _MODES]
        forged = ("NULL", "DEFAULT", "'0'", "'9223372036854775807'", f"'{given['project']}'", "'ada'")
        tried += [f"UPDATE {table} SET {column} = {value}" for column, value in product(columns or (), forged)]
        yield table, tried
    yield "functions", list(_calls(catalog, given))
    yield "policies", [f"DROP POLICY {name} ON {table}" for name, table in catalog.execute(_POLICIES).fetchall()]
    yield "server", [line.format(**given) for line in _ON_THE_SERVER.strip().splitlines()]
    yield "forged", [line.format(**given) for line in _FORGED.strip().splitlines()]


def table_locks(catalog: Connection[Any]) -> list[str]:
    """Every lock on every table that would hold others up."""
    tables = [
        table for table, _ in catalog.execute(_RELATIONS.replace("'r', 'p', 'v', 'm', 'S'", "'r', 'p'")).fetchall()
    ]
    return [f"LOCK TABLE {table} IN {mode} MODE" for table in tables for mode in _LOCKS[1:]]


def _calls(catalog: Connection[Any], given: dict[str, Any]) -> Iterator[str]:
    for signature, name, types in catalog.execute(_FUNCTIONS).fetchall():
        yield f"ALTER FUNCTION {signature} RESET ALL"
        yield f"ALTER FUNCTION {signature} SECURITY INVOKER"
        yield f"DROP FUNCTION {signature} CASCADE"
        yield f"GRANT ALL ON FUNCTION {signature} TO PUBLIC"
        for arguments in product(*(_ARGUMENTS[type_] for type_ in types)):
            typed = (f"{value}::{type_}" for value, type_ in zip(arguments, types, strict=True))
            yield f"SELECT {name}({', '.join(typed)})".format(**given)

"""What a hostile member tries with psql, read off the catalog: so a new table, column or function is tried too."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

_RELATIONS = """
SELECT oid::regclass::text, relkind::text, (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)
FROM pg_class AS c WHERE relnamespace = 'unified_state'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
    AND NOT (relispartition AND relname !~ '_[05]$')  -- partitions are alike: two of each are enough
"""
_FUNCTIONS = """
SELECT oid::regprocedure::text, oid::regproc::text, ARRAY(SELECT t::regtype::text FROM unnest(proargtypes) AS t)
FROM pg_proc WHERE pronamespace = 'unified_state'::regnamespace
"""
_POLICIES = "SELECT polname::text, polrelid::regclass::text FROM pg_policy"
_MODES = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")
_ARGUMENTS = {
    "bigint": ("{project}", "0", "-1", "1000000", "9223372036854775807", "NULL"),
    "integer": ("{author}", "0", "NULL"),
    "text": ("'ada'", "'{organisation}'", "'unified_state.member'", "NULL"),
    "name": ("'{role}'", "NULL"),
    "boolean": ("false", "NULL"),
    "text[]": ("ARRAY['swordfish']", "NULL"),
    "bigint[]": ("ARRAY[{project}, 1, 2, 3]::bigint[]", "NULL"),
    "tsquery": ("'swordfish'", "NULL"),
    "tsvector": ("'sword:1 fish:2,3'", "NULL"),
    "double precision": ("'NaN'", "1e300", "NULL"),
}
_MOST_CALLS = 200  # of one function
_ON_A_TABLE = """
DELETE FROM {table}
DELETE FROM {table} WHERE project = {project}
TRUNCATE {table}
TRUNCATE {table} CASCADE
COPY {table} FROM PROGRAM 'true'
INSERT INTO {table} SELECT * FROM {table}
INSERT INTO {table} SELECT * FROM {table} ON CONFLICT DO NOTHING
ALTER TABLE {table} DISABLE ROW LEVEL SECURITY
ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY
ALTER TABLE {table} OWNER TO {role}
ALTER TABLE {table} RENAME TO lost
ALTER TABLE {table} ADD COLUMN harm integer
ALTER TABLE {table} SET SCHEMA public
DROP TABLE {table} CASCADE
GRANT ALL ON {table} TO {role}
GRANT ALL ON {table} TO PUBLIC
REVOKE ALL ON {table} FROM {victim}
CREATE POLICY harm ON {table} USING (true)
CREATE TRIGGER harm BEFORE INSERT ON {table} EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()
CREATE RULE harm AS ON INSERT TO {table} DO INSTEAD NOTHING
CREATE INDEX harm ON {table} ((1 / 0))
CREATE STATISTICS harm ON ctid, tableoid FROM {table}
CREATE TABLE pg_temp.child () INHERITS ({table})
CREATE TABLE public.pointing (p bigint REFERENCES {table})
SECURITY LABEL ON TABLE {table} IS 'harm'
COMMENT ON TABLE {table} IS 'harm'
REINDEX TABLE {table}
CLUSTER {table}
SELECT nextval('{table}')
SELECT setval('{table}', 1)
"""
_ON_THE_SERVER = """
CREATE TABLE unified_state.harm (x integer)
CREATE FUNCTION unified_state.harm() RETURNS void LANGUAGE sql AS ''
CREATE SEQUENCE unified_state.harm
ALTER SCHEMA unified_state RENAME TO lost
ALTER SCHEMA unified_state OWNER TO {role}
DROP SCHEMA unified_state CASCADE
GRANT ALL ON SCHEMA unified_state TO {role}
REVOKE USAGE ON SCHEMA unified_state FROM {victim}
GRANT {victim} TO {role}
GRANT unified_state TO {role}
SET ROLE {victim}
SET ROLE unified_state
SET SESSION AUTHORIZATION {victim}
SET row_security = off
SET session_replication_role = replica
ALTER ROLE {victim} NOLOGIN
ALTER ROLE {victim} SET search_path = harm
ALTER ROLE {victim} SET lock_timeout = 0
ALTER ROLE {role} BYPASSRLS
ALTER DATABASE {database} SET search_path = harm
ALTER SYSTEM SET lock_timeout = 0
ALTER DEFAULT PRIVILEGES IN SCHEMA unified_state GRANT ALL ON TABLES TO {role}
REASSIGN OWNED BY {victim} TO {role}
DROP OWNED BY {victim}
ALTER TEXT SEARCH CONFIGURATION unified_state.words DROP MAPPING FOR word
DROP TEXT SEARCH DICTIONARY unified_state.stem CASCADE
CREATE EVENT TRIGGER harm ON ddl_command_start EXECUTE FUNCTION unified_state.harm()
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{victim}'
SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = '{victim}'
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'unified_state'
UPDATE pg_catalog.pg_class SET relforcerowsecurity = false
"""
# Rows of his own, with the numbers, sessions and steps of another one, or with numbers that come next.
_FORGED = """
INSERT INTO unified_state.session SELECT {project}, unified_state.author(), {n}, 'one' || {n}, '{{}}'
INSERT INTO unified_state.step SELECT {project}, unified_state.author(), {n}, {n}, 'x' || {n}::text::bytea, 0, 'prompt', 1, NULL, NULL, false, NULL, true, '', NULL, NULL
UPDATE unified_state.step SET number = {n}
UPDATE unified_state.step SET session = {n}
UPDATE unified_state.session SET number = {n}
UPDATE unified_state.item SET number = {n}
UPDATE unified_state.compaction SET number = {n}
INSERT INTO unified_state.step_copy SELECT {project}, unified_state.author(), {n}, {n}, s FROM generate_series(0, 60) AS s
INSERT INTO unified_state.step_words SELECT {project}, unified_state.author(), {n}, 'forged'
INSERT INTO unified_state.step_vector SELECT {project}, unified_state.author(), {n}, 'model', 1, '[1]'
INSERT INTO unified_state.item SELECT {project}, unified_state.author(), {n}, 'u' || {n}, 'D' || {n}, '9', '{{}}'
INSERT INTO unified_state.compaction SELECT {project}, unified_state.author(), {n}, 'b' || {n}, 1, 'one', ''
INSERT INTO unified_state.volume SELECT {project}, unified_state.author(), 9223372036854775807 ON CONFLICT (project, author) DO UPDATE SET steps = excluded.steps
INSERT INTO unified_state.common_word SELECT {project}, unified_state.author(), 'swordfish{n}', 'NaN'
"""  # noqa: E501  # a statement a line
# What stands before PostgreSQL's own, or ours, where a function looks names up carelessly; it notes as whom it ran.
_CAUGHT = "INSERT INTO public.caught SELECT current_user"
_SHADOWING = """
CREATE FUNCTION {schema}.format(text, text, text) RETURNS text LANGUAGE sql AS $${caught}; SELECT ''$$
CREATE FUNCTION {schema}.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $${caught}; SELECT 'ada'$$
CREATE FUNCTION {schema}.caught(text, bigint) RETURNS text LANGUAGE sql AS $${caught}; SELECT '@'$$
CREATE OPERATOR {schema}.|| (LEFTARG = text, RIGHTARG = bigint, FUNCTION = {schema}.caught)
CREATE FUNCTION {schema}.author() RETURNS integer LANGUAGE sql AS $${caught}; SELECT {author}$$
CREATE FUNCTION {schema}.project() RETURNS bigint LANGUAGE sql AS $${caught}; SELECT {project}$$
CREATE FUNCTION {schema}.may_write() RETURNS boolean LANGUAGE sql AS $${caught}; SELECT true$$
CREATE TABLE {schema}.member AS SELECT '{organisation}' AS organisation, {author} AS id, 'ada' AS name, session_user AS role
CREATE TABLE {schema}.numbering (project bigint, last bigint)
CREATE TABLE {schema}.unified_state_incoming (ordinal bigint)
SET search_path = {schema}, unified_state, pg_catalog
SELECT unified_state.take_numbers(1), unified_state.given(), unified_state.author(), unified_state.project()
SELECT unified_state.may_write(), unified_state.readable(), unified_state.name_of({author}), unified_state.enter()
SELECT unified_state.share(true)
UPDATE unified_state.step SET author = {author}
RESET search_path
"""  # noqa: E501


def attacks(catalog: Connection[Any], given: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Groups of statements, each with what it is about."""
    relations = catalog.execute(_RELATIONS).fetchall()
    for table, _, columns in relations:
        values = {**given, "table": table}
        tried = [line.format(**values) for line in _ON_A_TABLE.strip().splitlines()]
        tried += [f"SELECT * FROM {table} FOR {mode}" for mode in _MODES]
        forged = ("NULL", "DEFAULT", "'0'", "'9223372036854775807'", f"'{given['author']}'", f"'{given['project']}'")
        tried += [f"UPDATE {table} SET {column} = {value}" for column, value in product(columns or (), forged)]
        yield table, tried
    yield "functions", list(_calls(catalog, given))
    yield "policies", [f"DROP POLICY {name} ON {table}" for name, table in catalog.execute(_POLICIES).fetchall()]
    yield "server", [line.format(**given) for line in _ON_THE_SERVER.strip().splitlines()]
    for number in (1, 5, "unified_state.given()", "unified_state.given() + 1", "unified_state.given() + 7", 2**62):
        yield f"forged {number}", [line.format(**given, n=number) for line in _FORGED.strip().splitlines()]
    for schema in ("public", "pg_temp"):
        shadowing = _SHADOWING.strip().splitlines()
        yield f"shadows in {schema}", [line.format(**given, schema=schema, caught=_CAUGHT) for line in shadowing]


def _calls(catalog: Connection[Any], given: dict[str, Any]) -> Iterator[str]:
    for signature, name, types in catalog.execute(_FUNCTIONS).fetchall():
        yield f"ALTER FUNCTION {signature} RESET ALL"
        yield f"ALTER FUNCTION {signature} SECURITY INVOKER"
        yield f"DROP FUNCTION {signature} CASCADE"
        yield f"GRANT ALL ON FUNCTION {signature} TO {given['role']}"
        yield f"REVOKE ALL ON FUNCTION {signature} FROM {given['victim']}"
        choices = [_ARGUMENTS[type_] for type_ in types]
        for place in range(0, _count(choices), max(1, _count(choices) // _MOST_CALLS)):
            arguments = _choice(choices, place)
            typed = (f"{value}::{type_}" for value, type_ in zip(arguments, types, strict=True))
            yield f"SELECT {name}({', '.join(typed)})".format(**given)


def _choice(choices: list[tuple[str, ...]], place: int) -> list[str]:
    """One choice of each, as `itertools.product` would yield it at that place: all of them would fill the memory."""
    chosen = []
    for choice in reversed(choices):
        place, which = divmod(place, len(choice))
        chosen.append(choice[which])
    return chosen[::-1]


def _count(choices: list[tuple[str, ...]]) -> int:
    count = 1
    for choice in choices:
        count *= len(choice)
    return count

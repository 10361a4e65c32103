"""The server's schema: who is a member, which projects there are, and their records.

PostgreSQL proves who a caller is: only a login role that is a member of its organisation's group role has access.
So a role of the same name that is made later has no access. A member changes rows of his own and no others. He may
delete none, and has no privilege on a whole table that would let him lock it against others: what is forgotten is
overwritten.

`begin_project` runs with its owner's rights, since inserting into a table that Citus has on each node locks all of it.
`candidates` does, too. Under row security PostgreSQL uses no index for `@@`, which it takes for a
function that could leak rows. The function checks the caller first, and returns keys and sizes, never a text. The index
is of all projects, so each row's words hold its project, as `@7`, and no other one: a search reads nobody else's. Words
that many of the newest records have are looked for in these, one after the other. All others are found by the index of
words: it sorts by `at + 0`, since to read all records by time would take longer the rarer a word is.
"""

from __future__ import annotations

VERSION = 1
SERVES_FROM = 1  # the oldest version of a client that this schema serves
OLDEST_SERVER = 1  # the oldest version of a schema that this client uses
GROUP = "unified_state:"  # begins the name of an organisation's group role
# Bytes of a record, and projects of an organisation: each statement reads them all.
LARGEST_BODY, _MOST_PROJECTS = 1 << 28, 10_000
# Records that are ranked, the newest first; how many of the newest ones have words that are often, of which no index is
# asked, and how many of the newest ones are then looked at.
_RANKED, _OFTEN, _WALKED = 1_000, 20, 50_000
_FUNCTIONS = ", ".join(
    f"unified_state.{name}" for name in ("organisations", "listed", "readable", "own", "candidates", "begin_project")
)
CHANGED = ("kind", "at", "version", "archive", "ref", "part_of", "body", "words")

TABLES = f"""
CREATE SCHEMA unified_state;
CREATE TABLE unified_state.server (
    version integer NOT NULL,
    serves_from integer NOT NULL,                       -- the oldest client that may use it
    identity uuid PRIMARY KEY DEFAULT gen_random_uuid()
);
INSERT INTO unified_state.server (version, serves_from) VALUES (0, {SERVES_FROM});
CREATE TABLE unified_state.membership (
    organisation text NOT NULL,
    member text NOT NULL,
    login text,                                         -- NULL: was removed
    writes boolean NOT NULL,
    projects text[],                                    -- NULL: all of the organisation
    PRIMARY KEY (organisation, member),
    UNIQUE (login, organisation)
);
CREATE TABLE unified_state.project (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organisation text NOT NULL,
    name text NOT NULL CHECK (octet_length(name) < 1000),
    former text[] NOT NULL DEFAULT '{{}}',
    UNIQUE (organisation, name)
);
CREATE TABLE unified_state.record (
    project bigint NOT NULL,
    author text NOT NULL,
    id uuid NOT NULL,                                   -- follows from the kind and the name of what it holds
    kind text NOT NULL,                                 -- 'gone': what the author forgot, which does not come back
    at bigint NOT NULL,
    version bigint NOT NULL,                            -- of two versions the higher one stays
    archive text NOT NULL,
    ref text,                                           -- the author's own: D7, S1234
    part_of uuid,                                       -- forgotten with it
    body text NOT NULL CHECK (octet_length(body) < {LARGEST_BODY}),
    words tsvector CHECK (NOT ts_delete(words, '@' || project) @@ '''@'':*'),
    PRIMARY KEY (project, author, id)
);
ALTER TABLE unified_state.record ALTER words SET STORAGE MAIN;  -- beside the row, where each search compares them
CREATE INDEX record_words ON unified_state.record USING gin (words);
CREATE INDEX record_refs ON unified_state.record (project, author, ref);
CREATE INDEX record_parts ON unified_state.record (project, author, part_of) WHERE part_of IS NOT NULL;
CREATE INDEX record_times ON unified_state.record (project, at) WHERE words IS NOT NULL;
"""
# Each condition asks a function of the caller, once a statement.
RIGHTS = f"""
CREATE FUNCTION unified_state.organisations() RETURNS text[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT coalesce(array_agg(substr(rolname, {len(GROUP) + 1})), '{{}}') FROM pg_catalog.pg_roles
    WHERE starts_with(rolname, '{GROUP}') AND pg_has_role(oid, 'MEMBER') $$;
CREATE FUNCTION unified_state.listed() RETURNS text[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT coalesce(array_agg(organisation || CASE WHEN projects IS NULL THEN '' ELSE '/' || name END), '{{}}')
    FROM unified_state.membership LEFT JOIN unnest(projects) AS name ON true WHERE login = current_user $$;
CREATE FUNCTION unified_state.readable() RETURNS bigint[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT coalesce(array_agg(id), '{{}}') FROM unified_state.project $$;
CREATE FUNCTION unified_state.own() RETURNS text[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT coalesce(array_agg(id || '/' || member), '{{}}')
    FROM unified_state.project JOIN unified_state.membership USING (organisation)
    WHERE login = current_user AND writes $$;
CREATE FUNCTION unified_state.candidates(asked bigint, wanted tsquery, parts tsquery[], weights double precision[],
    since bigint, many integer) RETURNS TABLE (author text, id uuid, size integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET work_mem = '16MB'
SET max_parallel_workers_per_gather = 0 SET enable_seqscan = off SET jit = off
AS $$ DECLARE caller name = session_user; here tsquery = ('''@' || asked || '''')::tsquery && wanted; BEGIN
    IF NOT EXISTS (SELECT FROM unified_state.membership AS m JOIN unified_state.project AS p USING (organisation)
        WHERE p.id = asked AND m.login = caller AND (m.projects IS NULL OR p.name = ANY (m.projects))
            AND pg_has_role(caller, '{GROUP}' || organisation, 'MEMBER')) THEN RETURN; END IF;
    RETURN QUERY WITH walked AS MATERIALIZED (
        SELECT newest.* FROM (
            SELECT r.author, r.id, r.at, octet_length(r.body) AS size, r.words FROM unified_state.record AS r
            WHERE r.project = asked AND r.words IS NOT NULL AND (since IS NULL OR r.at >= since) ORDER BY r.at DESC
            LIMIT (SELECT CASE WHEN count(*) > {_OFTEN} THEN {_WALKED} ELSE 0 END FROM (
                SELECT r.words FROM unified_state.record AS r WHERE r.project = asked AND r.words IS NOT NULL
                ORDER BY r.at DESC LIMIT {_RANKED}) AS sample WHERE sample.words @@ wanted)) AS newest
        WHERE newest.words @@ wanted LIMIT {_RANKED}), met AS (
        SELECT * FROM walked WHERE (SELECT count(*) FROM walked) >= many UNION ALL (
            SELECT r.author, r.id, r.at, octet_length(r.body), r.words FROM unified_state.record AS r
            WHERE r.project = asked AND r.words @@ here AND (since IS NULL OR r.at >= since)
                AND (SELECT count(*) FROM walked) < many
            ORDER BY r.at + 0 DESC LIMIT {_RANKED}))
    SELECT best.author, best.id, best.size FROM (
        SELECT scored.*, row_number() OVER (PARTITION BY scored.author ORDER BY score DESC, scored.at DESC) AS place
        FROM (SELECT met.*, (SELECT sum(weight) FROM unnest(parts, weights) AS q (part, weight) WHERE met.words @@ part)
            / (100 + length(met.words)) AS score FROM met) AS scored) AS best
    ORDER BY place > 60, score DESC NULLS LAST, best.at DESC LIMIT many; END $$;
CREATE FUNCTION unified_state.begin_project(asked_of text, asked text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ BEGIN
    IF EXISTS (SELECT FROM unified_state.membership WHERE organisation = asked_of AND login = session_user AND writes
            AND (projects IS NULL OR asked = ANY (projects)))
        AND pg_has_role(session_user, '{GROUP}' || asked_of, 'MEMBER')
        AND (SELECT count(*) < {_MOST_PROJECTS} AND bool_or(asked = ANY (former)) IS NOT TRUE
            FROM unified_state.project WHERE organisation = asked_of) THEN
        INSERT INTO unified_state.project (organisation, name) VALUES (asked_of, asked) ON CONFLICT DO NOTHING;
        RETURN (SELECT id FROM unified_state.project WHERE organisation = asked_of AND name = asked);
    END IF; RETURN NULL; END $$;
ALTER TABLE unified_state.membership ENABLE ROW LEVEL SECURITY;
ALTER TABLE unified_state.project ENABLE ROW LEVEL SECURITY;
ALTER TABLE unified_state.record ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON FUNCTION {_FUNCTIONS} FROM PUBLIC;
"""
_POLICIES = {
    "colleagues ON unified_state.membership": "FOR SELECT "
    "USING (organisation = ANY ((SELECT unified_state.organisations())::text[]))",
    "readable ON unified_state.project": "FOR SELECT "
    "USING (ARRAY[organisation, organisation || '/' || name] && (SELECT unified_state.listed())::text[])",
    "readable ON unified_state.record": "FOR SELECT "
    "USING (project = ANY ((SELECT unified_state.readable())::bigint[]))",
    "own ON unified_state.record": "USING (project || '/' || author = ANY ((SELECT unified_state.own())::text[]))",
}
POLICIES = ";".join(f"DROP POLICY IF EXISTS {name}; CREATE POLICY {name} {rule}" for name, rule in _POLICIES.items())
# With Citus a project's records lie on one node, and who is a member on each, where its policies read it. They may hold
# no subquery there, so they ask for each row.
DISTRIBUTE = f"""
{POLICIES.replace("(SELECT ", "(")};
SELECT create_reference_table('unified_state.server'), create_reference_table('unified_state.membership'),
    create_reference_table('unified_state.project'), create_distributed_table('unified_state.record', 'project')
"""
NESTED = "ALTER DATABASE {database} SET citus.allow_nested_distributed_execution = on"
# The one grant of an organisation: to its group role, which has all members.
GRANTS = f"""
GRANT USAGE ON SCHEMA unified_state TO {{group}};
GRANT SELECT ON unified_state.server, unified_state.membership, unified_state.project, unified_state.record
    TO {{group}};
GRANT INSERT ON unified_state.record TO {{group}};
GRANT UPDATE ({", ".join(CHANGED)}) ON unified_state.record TO {{group}};
GRANT EXECUTE ON FUNCTION {_FUNCTIONS} TO {{group}};
"""
# Where pgvector is. The model's vectors have this length. Its index is of all projects together: a search goes on in it
# until enough of the nearest are of the project that is asked, or reads a small project's vectors without it.
VECTORS = """
ALTER TABLE unified_state.record
    ADD COLUMN IF NOT EXISTS embedding {schema}.vector(384), ADD COLUMN IF NOT EXISTS model text;
CREATE INDEX IF NOT EXISTS record_models ON unified_state.record (project, model) WHERE embedding IS NOT NULL;
CREATE INDEX IF NOT EXISTS record_vectors ON unified_state.record USING hnsw (embedding {schema}.vector_cosine_ops);
"""
NEAREST = """
ALTER DATABASE {database} SET hnsw.ef_search = 150;
ALTER DATABASE {database} SET hnsw.iterative_scan = relaxed_order
"""
GRANT_VECTORS = "GRANT UPDATE (embedding, model) ON unified_state.record TO {group}"
# Default rights of every user of a database that no member needs.
REVOKED = """
REVOKE ALL ON DATABASE {database} FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
"""
REVOKED_BY_SUPERUSER = """
DO $$ DECLARE found regprocedure; BEGIN
    FOR found IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
        AND (proname LIKE 'lo\\_%' OR proname IN ('loread', 'lowrite') OR proname LIKE 'pg%advisory%')
    LOOP EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', found); END LOOP;
END $$
"""
# By version: what brings a schema to it from the one before. Each only adds, so that older clients go on.
MIGRATIONS = (TABLES + RIGHTS + POLICIES,)

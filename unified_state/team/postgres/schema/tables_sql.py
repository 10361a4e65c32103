"""The tables on the server: tenants with the functions that decide on access, and history.

The settings `unified_state.organisation`, `unified_state.project` and `unified_state.member` name the member and the
project. Anybody can set them; `unified_state.author()` tells whether the role that logged in may. Every key of history
begins with the project and the author, so no conflict reveals rows of others. Numbers are given under the lock of the
project's row, and only grow.
"""

from __future__ import annotations

TENANTS = """
CREATE TABLE unified_state.organisation (
    name text PRIMARY KEY,
    shares boolean NOT NULL DEFAULT true   -- whether members read each other's history at all
);

CREATE TABLE unified_state.member (
    organisation text NOT NULL REFERENCES unified_state.organisation,
    id integer NOT NULL,
    name text NOT NULL,
    role name,                             -- the only one that may act as this member
    writes boolean NOT NULL DEFAULT true,
    shares boolean NOT NULL DEFAULT true,  -- whether the others read this one's history
    PRIMARY KEY (organisation, id),
    UNIQUE (organisation, name)
);

CREATE TABLE unified_state.project (
    id bigint PRIMARY KEY,                 -- a random one: it tells nothing of how many there are
    organisation text NOT NULL REFERENCES unified_state.organisation,
    name text NOT NULL,
    last bigint NOT NULL DEFAULT 0,        -- the last number given; its lock is what writers wait for
    UNIQUE (organisation, name)
);

CREATE FUNCTION unified_state.author() RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT id FROM unified_state.member
    WHERE organisation = current_setting('unified_state.organisation', true)
        AND name = current_setting('unified_state.member', true)
        AND CASE WHEN role IS NULL
            THEN pg_has_role(session_user, current_user, 'MEMBER')  -- the owner's, as whom this function runs
                AND NOT EXISTS (SELECT 1 FROM unified_state.member AS bound
                    WHERE bound.organisation = member.organisation AND bound.role IS NOT NULL)
            ELSE role = session_user END
$$;

CREATE FUNCTION unified_state.may_write() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT writes FROM unified_state.member
        WHERE organisation = current_setting('unified_state.organisation', true)
            AND id = unified_state.author()), false)
$$;

CREATE FUNCTION unified_state.readable() RETURNS integer[] LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(member.id), '{}') FROM unified_state.member
    JOIN unified_state.organisation ON organisation.name = member.organisation
    CROSS JOIN (SELECT unified_state.author() AS id) AS self
    WHERE organisation.name = current_setting('unified_state.organisation', true)
        AND (member.id = self.id OR (self.id IS NOT NULL AND organisation.shares AND member.shares))
$$;

CREATE FUNCTION unified_state.name_of(author integer) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT name FROM unified_state.member
    WHERE organisation = current_setting('unified_state.organisation', true) AND id = author
        AND author = ANY (unified_state.readable())
$$;

CREATE FUNCTION unified_state.project() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT id FROM unified_state.project
    WHERE organisation = current_setting('unified_state.organisation', true)
        AND name = current_setting('unified_state.project', true) AND unified_state.author() IS NOT NULL
$$;
"""

# The second migration. Numbers are given in a table of its own, which lies where the project's history lies: no append
# writes what all projects share, and no privilege on a single column is needed.
NUMBERING = """
CREATE TABLE unified_state.numbering (
    project bigint PRIMARY KEY,
    last bigint NOT NULL DEFAULT 0         -- the last number given; its lock is what writers wait for
);
ALTER TABLE unified_state.project NO FORCE ROW LEVEL SECURITY;
INSERT INTO unified_state.numbering SELECT id, last FROM unified_state.project;
ALTER TABLE unified_state.project FORCE ROW LEVEL SECURITY;
ALTER TABLE unified_state.project DROP COLUMN last;
"""

# Whoever may use the steps may use another table as well.
AS_STEPS = """
DO $$
DECLARE
    given record;
BEGIN
    FOR given IN SELECT grantee, privilege_type FROM information_schema.role_table_grants
        WHERE table_schema = 'unified_state' AND table_name = 'step'
            AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') AND grantee NOT IN (current_user, 'PUBLIC')
    LOOP
        EXECUTE format('GRANT %s ON unified_state.{table} TO %I', given.privilege_type, given.grantee);
    END LOOP;
END $$;
"""

# Who opens a project the first time makes it; where members are bound to roles nobody makes a member but `admit`. A
# member's number is a random one: it is nobody's in another organisation, so that no policy can take one for the other.
ENTERING = """
CREATE OR REPLACE FUNCTION unified_state.random_number() RETURNS bigint LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint
$$;

CREATE OR REPLACE FUNCTION unified_state.enter() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_organisation text := current_setting('unified_state.organisation');
    of_member text := current_setting('unified_state.member');
BEGIN
    IF unified_state.author() IS NULL THEN
        INSERT INTO unified_state.organisation (name) VALUES (of_organisation) ON CONFLICT DO NOTHING;
        PERFORM 1 FROM unified_state.organisation WHERE name = of_organisation FOR UPDATE;
        IF NOT EXISTS (SELECT 1 FROM unified_state.member WHERE organisation = of_organisation AND role IS NOT NULL)
        THEN
            INSERT INTO unified_state.member (organisation, id, name)
                VALUES (of_organisation, unified_state.random_number() >> 32, of_member) ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    IF unified_state.author() IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'not a member';
    END IF;
    IF unified_state.project() IS NULL AND unified_state.may_write() THEN
        INSERT INTO unified_state.project (id, organisation, name)
            VALUES (unified_state.random_number(), of_organisation, current_setting('unified_state.project'))
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN unified_state.project();
END $$;

CREATE OR REPLACE FUNCTION unified_state.admit(
    of_role name, of_organisation text, of_member text, may_write boolean DEFAULT true
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM unified_state.tell('unified_state.organisation', of_organisation);
    INSERT INTO unified_state.organisation (name) VALUES (of_organisation) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM unified_state.organisation WHERE name = of_organisation FOR UPDATE;
    INSERT INTO unified_state.member (organisation, id, name, role, writes)
        VALUES (of_organisation, unified_state.random_number() >> 32, of_member, of_role, may_write)
        ON CONFLICT (organisation, name) DO UPDATE SET role = excluded.role, writes = excluded.writes;
    EXECUTE format('GRANT USAGE ON SCHEMA unified_state TO %I', of_role);
    EXECUTE format('GRANT SELECT ON unified_state.version, {history} TO %I', of_role);
    IF may_write THEN
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON {history} TO %I', of_role);
        EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON unified_state.numbering FROM %I', of_role);
    END IF;
    PERFORM unified_state.let_call(of_role);
    IF to_regclass('unified_state.step_vector') IS NOT NULL THEN
        EXECUTE format('GRANT SELECT ON unified_state.step_vector TO %I', of_role);
        IF may_write THEN
            EXECUTE format('GRANT INSERT, UPDATE, DELETE ON unified_state.step_vector TO %I', of_role);
        END IF;
    END IF;
END $$;

-- Let a role call the functions that members call.
CREATE OR REPLACE FUNCTION unified_state.let_call(of_role name) RETURNS void LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA unified_state TO %I', of_role);
    EXECUTE format('REVOKE ALL ON FUNCTION unified_state.admit, unified_state.let_call, unified_state.random_number '
        'FROM %I', of_role);
END $$;

-- Whether the others of one's organisation may read one's history: everybody's own word.
CREATE OR REPLACE FUNCTION unified_state.share(whether boolean) RETURNS void LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    UPDATE unified_state.member SET shares = whether
    WHERE organisation = current_setting('unified_state.organisation', true) AND id = unified_state.author()
$$;
"""

# Nobody but the owner and those who may use the steps calls a function of ours: to run after functions are made.
CALLING = """
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA unified_state FROM PUBLIC;
SELECT unified_state.let_call(grantee::name) FROM (
    SELECT DISTINCT grantee FROM information_schema.role_table_grants
    WHERE table_schema = 'unified_state' AND table_name = 'step' AND privilege_type = 'SELECT'
        AND grantee NOT IN (current_user, 'PUBLIC')) AS members;
"""


HISTORY = """
CREATE TABLE unified_state.session (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    session_id text NOT NULL,
    record text NOT NULL,                  -- all fields, as JSON
    PRIMARY KEY (project, author, session_id)
);

CREATE TABLE unified_state.step (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    session bigint NOT NULL,               -- the number of the one that had it first
    uuid bytea NOT NULL,
    block bigint NOT NULL,
    kind text NOT NULL,
    at bigint NOT NULL,
    tool text,
    tool_use_id text,
    is_error boolean NOT NULL,
    agent text,
    starts_turn boolean NOT NULL,
    body bytea NOT NULL,  -- compressed already
    unknown text,
    PRIMARY KEY (project, author, uuid, block)
) PARTITION BY HASH (project);
CREATE INDEX step_by_number ON unified_state.step (project, number);
CREATE INDEX step_by_session ON unified_state.step (project, session, number);

CREATE TABLE unified_state.step_copy (     -- the other sessions that hold a step: forks
    project bigint NOT NULL,
    author integer NOT NULL,
    session bigint NOT NULL,
    number bigint NOT NULL,
    step bigint NOT NULL,
    PRIMARY KEY (project, session, step)
) PARTITION BY HASH (project);
CREATE INDEX step_copy_by_step ON unified_state.step_copy (project, step);

CREATE TABLE unified_state.step_words (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (project, number)
) PARTITION BY HASH (project);
-- A search reads all words that are not sorted in yet: 4 MB of them, as many as there are else, take 30 ms.
CREATE INDEX step_words_of ON unified_state.step_words USING gin (words) WITH (gin_pending_list_limit = 512);

CREATE TABLE unified_state.item (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    uuid text NOT NULL,
    alias text NOT NULL,
    changed_at text NOT NULL,
    record text NOT NULL,
    PRIMARY KEY (project, author, uuid)
);
CREATE UNIQUE INDEX item_by_alias ON unified_state.item (project, author, alias);

CREATE TABLE unified_state.item_alias (    -- names that items have or had
    project bigint NOT NULL,
    author integer NOT NULL,
    alias text NOT NULL,
    uuid text NOT NULL,
    PRIMARY KEY (project, author, alias, uuid)
);

CREATE TABLE unified_state.link (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    from_uuid text NOT NULL,
    to_uuid text NOT NULL,
    relation text NOT NULL,
    at text NOT NULL,
    PRIMARY KEY (project, author, from_uuid, to_uuid, relation)
);

CREATE TABLE unified_state.compaction (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    boundary text NOT NULL,
    at bigint NOT NULL,
    session_id text NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (project, author, boundary)
);

CREATE TABLE unified_state.tombstone (
    project bigint NOT NULL,
    author integer NOT NULL,
    what text NOT NULL,
    key text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (project, author, what, key)
);

CREATE TABLE unified_state.volume (        -- how much an author has, about: what is expected of a search follows
    project bigint NOT NULL,
    author integer NOT NULL,
    steps bigint NOT NULL,
    sampled bigint NOT NULL DEFAULT 0,     -- how many there were when the words were counted
    PRIMARY KEY (project, author)
);

CREATE TABLE unified_state.common_word (   -- words of more than a five-hundredth of an author's steps
    project bigint NOT NULL,
    author integer NOT NULL,
    word text NOT NULL,
    share real NOT NULL,
    PRIMARY KEY (project, author, word)
);
"""
MASKING = "ALTER TABLE unified_state.step ADD COLUMN masked_at bigint;\n"  # when secrets were masked that it had held
# How far each archive is that is replicated here. A server that was restored from a backup has a smaller number than
# the archive remembers, and is told everything again.
REPLICAS = """
CREATE TABLE unified_state.replica (
    project bigint NOT NULL,
    author integer NOT NULL,
    archive text NOT NULL,
    mark bigint NOT NULL,
    PRIMARY KEY (project, author, archive)
);
"""
PARTITIONED_TABLES = ("step", "step_copy", "step_words")
HISTORY_TABLES = (
    *PARTITIONED_TABLES,
    "session",
    "item",
    "item_alias",
    "link",
    "compaction",
    "tombstone",
    "volume",
    "common_word",
)

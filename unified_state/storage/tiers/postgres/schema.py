"""The tables of the server, their row security, and the functions that keep it.

Every key begins with the project, and with the author who sent what it names: no conflict ever tells of what another
one has. The three settings `unified_state.organisation`, `unified_state.project` and `unified_state.member` say who
asks, and for what; who may say so is what `unified_state.author()` decides. Never edit a migration that was released.
"""

from __future__ import annotations

PARTITIONS = 16

_TENANTS = """
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
            THEN NOT EXISTS (SELECT 1 FROM unified_state.member AS bound
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

CREATE FUNCTION unified_state.project() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT id FROM unified_state.project
    WHERE organisation = current_setting('unified_state.organisation', true)
        AND name = current_setting('unified_state.project', true) AND unified_state.author() IS NOT NULL
$$;
"""

# Who opens a project the first time makes it; where members are bound to roles nobody makes a member but `admit`.
_ENTERING = """
CREATE FUNCTION unified_state.enter() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
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
                SELECT of_organisation, coalesce(max(id), 0) + 1, of_member FROM unified_state.member
                WHERE organisation = of_organisation
                ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    IF unified_state.author() IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'not a member';
    END IF;
    IF unified_state.project() IS NULL AND unified_state.may_write() THEN
        INSERT INTO unified_state.project (id, organisation, name)
            SELECT ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint, of_organisation,
                current_setting('unified_state.project')
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN unified_state.project();
END $$;

CREATE FUNCTION unified_state.admit(
    of_role name, of_organisation text, of_member text, may_write boolean DEFAULT true
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('unified_state.organisation', of_organisation, true);
    INSERT INTO unified_state.organisation (name) VALUES (of_organisation) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM unified_state.organisation WHERE name = of_organisation FOR UPDATE;
    INSERT INTO unified_state.member (organisation, id, name, role, writes)
        SELECT of_organisation, coalesce(max(id), 0) + 1, of_member, of_role, may_write FROM unified_state.member
        WHERE organisation = of_organisation
        ON CONFLICT (organisation, name) DO UPDATE SET role = excluded.role, writes = excluded.writes;
    EXECUTE format('GRANT USAGE ON SCHEMA unified_state TO %I', of_role);
    EXECUTE format('GRANT SELECT ON unified_state.version, unified_state.project, {history} TO %I', of_role);
    IF may_write THEN
        EXECUTE format('GRANT UPDATE (last) ON unified_state.project TO %I', of_role);
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON {history} TO %I', of_role);
    END IF;
END $$;

REVOKE ALL ON FUNCTION unified_state.admit FROM PUBLIC;
"""

# What is given to others; `{history}` above.
_HISTORY = """
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
CREATE INDEX step_words_of ON unified_state.step_words USING gin (words);

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
"""
PARTITIONED = ("step", "step_copy", "step_words")
HISTORY = (*PARTITIONED, "session", "item", "item_alias", "link", "compaction", "tombstone")

# Words are stemmed, none is dropped. They come in lower case and without signs: see `words.py`.
_SEARCHING = """
CREATE TEXT SEARCH DICTIONARY unified_state.stem (TEMPLATE = pg_catalog.snowball, Language = english);
CREATE TEXT SEARCH CONFIGURATION unified_state.words (PARSER = pg_catalog.default);
ALTER TEXT SEARCH CONFIGURATION unified_state.words ADD MAPPING FOR asciiword, word, numword, asciihword, hword,
    numhword, hword_asciipart, hword_part, hword_numpart WITH unified_state.stem;
ALTER TEXT SEARCH CONFIGURATION unified_state.words ADD MAPPING FOR email, url, host, file, url_path, sfloat, float,
    int, uint, version WITH pg_catalog.simple;

-- What the present search looks for. The policy of step_words holds the match itself: PostgreSQL uses no index for a
-- condition that could leak what a policy hides, but it uses one for what the policy says.
CREATE FUNCTION unified_state.wanted() RETURNS tsquery LANGUAGE sql STABLE AS $$
    SELECT nullif(current_setting('unified_state.wanted', true), '')::tsquery
$$;

-- Say who asks; the authors whose history is readable.
CREATE FUNCTION unified_state.ask(organisation text, project text, member text) RETURNS integer[]
    LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('unified_state.organisation', organisation, true),
        set_config('unified_state.project', project, true), set_config('unified_state.member', member, true);
    RETURN unified_state.readable();
END $$;
"""

VERSION = """
CREATE SCHEMA unified_state;
CREATE TABLE unified_state.version (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
"""


def _partitions() -> str:
    return "".join(
        f"CREATE TABLE unified_state.{table}_{number} PARTITION OF unified_state.{table} "
        f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number});\n"
        for table in PARTITIONED
        for number in range(PARTITIONS)
    )


def _policies() -> str:
    """Row security for everybody, the owner too. Each function is asked once a statement, not once a row."""
    asking = "current_setting('unified_state.organisation', true)"
    here = "project = (SELECT unified_state.project())"
    mine = f"{here} AND author = (SELECT unified_state.author()) AND (SELECT unified_state.may_write())"
    readable = f"{here} AND author = ANY ((SELECT unified_state.readable())::integer[])"
    conditions = {table: readable for table in HISTORY}
    conditions["step_words"] = f"{readable} AND words @@ unified_state.wanted()"
    statements = [
        f"ALTER TABLE unified_state.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        for table in (*HISTORY, "organisation", "member", "project")
    ]
    for table, name in (("organisation", "name"), ("member", "organisation"), ("project", "organisation")):
        statements.append(f"CREATE POLICY of_organisation ON unified_state.{table} USING ({name} = {asking})")
    for table, condition in conditions.items():
        statements += [
            f"CREATE POLICY readable ON unified_state.{table} FOR SELECT USING ({condition})",
            f"CREATE POLICY insertable ON unified_state.{table} FOR INSERT WITH CHECK ({mine})",
            f"CREATE POLICY changeable ON unified_state.{table} FOR UPDATE USING ({mine}) WITH CHECK ({mine})",
            f"CREATE POLICY deletable ON unified_state.{table} FOR DELETE USING ({mine})",
        ]
    return ";\n".join(statements) + ";\n"


_GRANTED = ", ".join(f"unified_state.{table}" for table in HISTORY)
MIGRATIONS = (
    _TENANTS + _ENTERING.replace("{history}", _GRANTED) + _HISTORY + _partitions() + _SEARCHING + _policies(),
)

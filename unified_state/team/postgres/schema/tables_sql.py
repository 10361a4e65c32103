"""The tables on the server: tenants, functions for access control, and history.

The settings `unified_state.organisation`, `unified_state.project` and `unified_state.member` name the member and the
project. Every user can set them. `unified_state.author()` checks whether the login role may use them. Every key of
history begins with the project and the author, so no conflict reveals rows of others. Numbers are assigned under the
lock of the project's row, and only grow.
"""

from __future__ import annotations

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
"""

# The functions for access control, by signature, type and body.
DECIDING = (
    (
        "author()",
        "integer",
        """SELECT id FROM unified_state.member
    WHERE organisation = current_setting('unified_state.organisation', true)
        AND name = current_setting('unified_state.member', true)
        AND CASE WHEN role IS NULL
            THEN pg_has_role(session_user, current_user, 'MEMBER')  -- the owner's, as whom this function runs
                AND NOT EXISTS (SELECT 1 FROM unified_state.member AS bound
                    WHERE bound.organisation = member.organisation AND bound.role IS NOT NULL)
            ELSE role = session_user END""",
    ),
    (
        "may_write()",
        "boolean",
        """SELECT coalesce((SELECT writes FROM unified_state.member
        WHERE organisation = current_setting('unified_state.organisation', true)
            AND id = unified_state.author()), false)""",
    ),
    (
        "readable()",
        "integer[]",
        """SELECT coalesce(array_agg(member.id), '{}') FROM unified_state.member
    JOIN unified_state.organisation ON organisation.name = member.organisation
    CROSS JOIN (SELECT unified_state.author() AS id) AS self
    WHERE organisation.name = current_setting('unified_state.organisation', true)
        AND (member.id = self.id OR (self.id IS NOT NULL AND organisation.shares AND member.shares))""",
    ),
    (
        "name_of(author integer)",
        "text",
        """SELECT name FROM unified_state.member
    WHERE organisation = current_setting('unified_state.organisation', true) AND id = author
        AND author = ANY (unified_state.readable())""",
    ),
    (
        "project()",
        "bigint",
        """SELECT id FROM unified_state.project
    WHERE organisation = current_setting('unified_state.organisation', true)
        AND name = current_setting('unified_state.project', true) AND unified_state.author() IS NOT NULL""",
    ),
)


def definer(signature: str, returns: str, body: str) -> str:
    """Return the statement that creates a function which runs with the rights of the tables' owner."""
    return (
        f"CREATE FUNCTION unified_state.{signature} RETURNS {returns} LANGUAGE sql STABLE SECURITY DEFINER "
        f"SET search_path = pg_catalog, pg_temp AS $$ {body} $$;\n"
    )


# In the first version the query called `author()` for each member: with a hundred, a search took eight times as long.
READABLE = (
    "readable()",
    "integer[]",
    """SELECT coalesce(array_agg(member.id), '{}') FROM unified_state.member
    JOIN unified_state.organisation ON organisation.name = member.organisation
    WHERE organisation.name = current_setting('unified_state.organisation', true)
        AND (member.id = (SELECT unified_state.author())
            OR ((SELECT unified_state.author()) IS NOT NULL AND organisation.shares AND member.shares))""",
)
TENANTS = _TENANTS + "".join(definer(*row) for row in DECIDING)

# The second migration. Numbers are assigned in a separate table, which is on the same node as the project's history. So
# no append writes a row shared by all projects, and no privilege on a single column is needed.
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

# A role with access to the steps gets access to another table too.
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

# The first member to open a project creates it. If members are bound to roles, only `admit` creates members. A member's
# number is random and does not exist in another organisation, so no policy can confuse the two.
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

-- Whether they also read the items that one recorded before colleagues could find any.
CREATE OR REPLACE FUNCTION unified_state.share_earlier(whether boolean) RETURNS void LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    UPDATE unified_state.member SET shares_earlier = whether
    WHERE organisation = current_setting('unified_state.organisation', true) AND id = unified_state.author()
$$;

-- Whether the organisation shares, whether one shares, and whether one shares the earlier items too.
CREATE OR REPLACE FUNCTION unified_state.sharing() RETURNS boolean[] LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY[organisation.shares, member.shares, shares_earlier] FROM unified_state.member
    JOIN unified_state.organisation ON organisation.name = organisation
    WHERE organisation = current_setting('unified_state.organisation', true) AND id = unified_state.author()
$$;
"""

# Only the owner and roles with access to the steps may call our functions. Run this after functions are created.
CALLING = """
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA unified_state FROM PUBLIC;
SELECT unified_state.let_call(grantee::name) FROM (
    SELECT DISTINCT grantee FROM information_schema.role_table_grants
    WHERE table_schema = 'unified_state' AND table_name = 'step' AND privilege_type = 'SELECT'
        AND grantee NOT IN (current_user, 'PUBLIC')) AS members;
"""


PARTITIONS = 16
_PARTITIONED = ("step", "step_copy", "step_words", "step_vector")
HISTORY_TABLES = (
    "step", "step_copy", "step_words", "session", "item", "item_alias", "link", "compaction", "tombstone", "volume",
    "common_word",
)  # fmt: skip
# The columns of each table after the project and the author, and its key after the project. `?` marks a nullable
# column. A `record` has all fields as JSON, and a `body` is compressed. The `session` of a step is the number of the
# first session with it, and `step_copy` has the others. `item_alias` has the current and former names of items.
# `volume` has the approximate number of an author's steps, and their number when words were last counted. `common_word`
# has the words in more than a five-hundredth of them. `replica` has the progress of each archive. A server that was
# restored from a backup has a smaller number there than the archive, and receives everything again.
_TABLES = {
    "session": ("number bigint, session_id text, record text", "author, session_id"),
    "step": (
        (
            "number bigint, session bigint, uuid bytea, block bigint, kind text, at bigint, tool text?, "
            "tool_use_id text?, is_error boolean, agent text?, starts_turn boolean, body bytea, unknown text?"
        ),
        "author, uuid, block",
    ),
    "step_copy": ("session bigint, number bigint, step bigint", "session, step"),
    "step_words": ("number bigint, words tsvector", "number"),
    "item": ("number bigint, uuid text, alias text, changed_at text, record text", "author, uuid"),
    "item_alias": ("alias text, uuid text", "author, alias, uuid"),
    "link": (
        "number bigint, from_uuid text, to_uuid text, relation text, at text",
        "author, from_uuid, to_uuid, relation",
    ),
    "compaction": ("number bigint, boundary text, at bigint, session_id text, record bytea", "author, boundary"),
    "tombstone": ("what text, key text, at bigint", "author, what, key"),
    "volume": ("steps bigint, sampled bigint DEFAULT 0", "author"),
    "common_word": ("word text, share real", "author, word"),
    "replica": ("archive text, mark bigint", "author, archive"),
    "step_vector": (
        "number bigint, model text, dimensions integer, embedding {schema}.halfvec",
        "number, model, author",
    ),
}
# A search reads all words that are not yet merged into the index. 4 MB of them, as many as in the index, take 30 ms.
INDEXES = """
CREATE INDEX step_by_number ON unified_state.step (project, number);
CREATE INDEX step_by_session ON unified_state.step (project, session, number);
CREATE INDEX step_copy_by_step ON unified_state.step_copy (project, step);
CREATE INDEX step_words_of ON unified_state.step_words USING gin (words) WITH (gin_pending_list_limit = 512);
CREATE UNIQUE INDEX item_by_alias ON unified_state.item (project, author, alias);
"""
MASKING = "ALTER TABLE unified_state.step ADD COLUMN masked_at bigint;\n"  # time of masking


def table(name: str, *, distributed: bool) -> str:
    """Return the statements that create a table of history with its partitions. A distributed server has shards
    instead.
    """
    columns, key = _TABLES[name]
    described = ", ".join(
        column.removesuffix("?") if column.endswith("?") else f"{column} NOT NULL"
        for column in f"project bigint, author integer, {columns}".split(", ")
    )
    created = f"CREATE TABLE unified_state.{name} ({described}, PRIMARY KEY (project, {key}))"
    if distributed or name not in _PARTITIONED:
        return f"{created};\n"
    return f"{created} PARTITION BY HASH (project);\n" + "".join(
        f"CREATE TABLE unified_state.{name}_{number} PARTITION OF unified_state.{name} "
        f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number});\n"
        for number in range(PARTITIONS)
    )

"""The numbers of a project: the function that assigns them, and the migration that stops members from writing them.

Members can read `numbering` and cannot write it. `take_numbers` assigns numbers and only counts up. No row may have an
unassigned number. So no member can occupy the number of a row that a colleague sends later.
"""

from __future__ import annotations

from unified_state.team.postgres.schema.tables_sql import AS_STEPS, definer

NUMBERED_TABLES = ("session", "step", "item", "compaction")  # read in pages, by number
_REPAIRED = (*NUMBERED_TABLES, "step_copy", "step_words", "link", "replica", "numbering", "volume", "common_word")
_LARGEST = 10**15  # larger numbers were never assigned, so a member invented them

TAKING = """
-- Give this member the next numbers of the project; returns the last one before them. The row stays locked until the
-- transaction ends: writers of one project take turns.
CREATE OR REPLACE FUNCTION unified_state.take_numbers(many bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here bigint := unified_state.project();
    before bigint;
BEGIN
    IF here IS NULL OR NOT unified_state.may_write() THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied: only members who may write take numbers';
    ELSIF many IS NULL OR many NOT BETWEEN 0 AND 1000000 THEN  -- so that nobody can use all numbers up
        RAISE invalid_parameter_value USING MESSAGE = 'take between 0 and 1000000 numbers at a time';
    END IF;
    UPDATE unified_state.numbering SET last = last + many WHERE project = here RETURNING last - many INTO before;
    IF NOT FOUND THEN
        INSERT INTO unified_state.numbering (project) VALUES (here) ON CONFLICT DO NOTHING;
        UPDATE unified_state.numbering SET last = last + many WHERE project = here RETURNING last - many INTO before;
    END IF;
    RETURN before;
END $$;
"""

# Used by policies: the last number assigned in the project of the current member.
_GIVEN = definer(
    "given()",
    "bigint",
    "SELECT coalesce((SELECT last FROM unified_state.numbering WHERE project = unified_state.project()), 0)",
)

# `session_guessed`: the server does not know which session contains the step. The next sync of its author corrects it.
_SAFE_KEYS = """
ALTER TABLE unified_state.step ADD COLUMN session_guessed boolean NOT NULL DEFAULT false;
ALTER TABLE unified_state.step_copy DROP CONSTRAINT step_copy_pkey, ADD PRIMARY KEY (project, session, step, author);
ALTER TABLE unified_state.step_words DROP CONSTRAINT step_words_pkey, ADD PRIMARY KEY (project, number, author);
DO $$
BEGIN
    IF to_regclass('unified_state.step_vector') IS NOT NULL THEN
        ALTER TABLE unified_state.step_vector DROP CONSTRAINT step_vector_pkey,
            ADD PRIMARY KEY (project, number, model, author);
    END IF;
END $$;
DROP FUNCTION IF EXISTS
    unified_state.nearest(text, integer, text, bigint[], text, text, bigint, bigint, integer),
    unified_state.matching(text[], bigint[], text, text, bigint, bigint, integer);
"""
# The search of the whole team uses the values that each member writes here.
_CHECKS = """
ALTER TABLE unified_state.common_word ADD CHECK (share BETWEEN 0 AND 1);
ALTER TABLE unified_state.volume ADD CHECK (steps BETWEEN 0 AND {largest});
"""

# Members could once set the last number back. Then rows received the numbers of other rows. With sessions, the steps of
# one were read with the other. With steps, no sync of the project continued.
_REPAIR = """
UPDATE unified_state.common_word SET share = CASE WHEN share > 1 THEN 1 ELSE 0 END WHERE NOT share BETWEEN 0 AND 1;
UPDATE unified_state.volume SET steps = 0 WHERE NOT steps BETWEEN 0 AND {largest};
INSERT INTO unified_state.numbering AS known (project, last)
    SELECT project, max(number) FROM (
        SELECT project, number FROM unified_state.session UNION ALL SELECT project, number FROM unified_state.step
        UNION ALL SELECT project, number FROM unified_state.step_copy
        UNION ALL SELECT project, number FROM unified_state.item
        UNION ALL SELECT project, number FROM unified_state.link
        UNION ALL SELECT project, number FROM unified_state.compaction) AS used
    WHERE number BETWEEN 1 AND {largest} GROUP BY project
    ON CONFLICT (project) DO UPDATE SET last = CASE WHEN known.last BETWEEN 0 AND {largest}
        THEN greatest(known.last, excluded.last) ELSE excluded.last END;

-- Sessions that share a number, or have one that was never given: all of them are given new ones.
CREATE TEMPORARY TABLE unified_state_sessions ON COMMIT DROP AS
    SELECT project, author, session_id, number AS old, last + row_number() OVER (
            PARTITION BY project ORDER BY number, author, session_id) AS new,
        count(*) OVER (PARTITION BY project, author, number) AS alike,
        substring(record FROM '"startedAt": ?([0-9]{{1,15}})[,}}]')::bigint AS began,
        substring(record FROM '"(?:endedAt|seenAt)": ?([0-9]{{1,15}})[,}}]')::bigint AS ended
    FROM unified_state.session JOIN unified_state.numbering USING (project)
    WHERE (project, number) IN (SELECT project, number FROM unified_state.session GROUP BY 1, 2 HAVING count(*) > 1)
        OR number NOT BETWEEN 1 AND {largest};
UPDATE unified_state.session AS s SET number = new FROM pg_temp.unified_state_sessions AS n
    WHERE s.project = n.project AND s.author = n.author AND s.session_id = n.session_id;
UPDATE unified_state.step AS s SET (session, session_guessed) = (
        SELECT new, alike > 1 FROM pg_temp.unified_state_sessions AS n
        WHERE n.project = s.project AND n.author = s.author AND n.old = s.session
        ORDER BY s.at >= began AND s.at <= ended DESC NULLS LAST, abs(s.at - began), new LIMIT 1)
    WHERE (project, author, session) IN (SELECT project, author, old FROM pg_temp.unified_state_sessions);
DELETE FROM unified_state.step_copy WHERE (project, author, session) IN (
    SELECT project, author, old FROM pg_temp.unified_state_sessions WHERE alike > 1);
UPDATE unified_state.step_copy AS c SET session = new FROM pg_temp.unified_state_sessions AS n
    WHERE c.project = n.project AND c.author = n.author AND c.session = n.old;

-- Steps that share a number: one keeps it, the one whose author has words there.
CREATE TEMPORARY TABLE unified_state_steps ON COMMIT DROP AS
    SELECT s.project, s.author, uuid, block, s.number AS old, row_number() OVER place AS place,
        count(*) OVER (PARTITION BY s.project, s.number, s.author) AS alike, NULL::bigint AS new
    FROM unified_state.step AS s LEFT JOIN unified_state.step_words AS w USING (project, number, author)
    WHERE (s.project, s.number) IN (SELECT project, number FROM unified_state.step GROUP BY 1, 2 HAVING count(*) > 1)
        OR s.number NOT BETWEEN 1 AND {largest}
    WINDOW place AS (PARTITION BY s.project, s.number ORDER BY w.number IS NULL, at, s.author, uuid, block);
DELETE FROM pg_temp.unified_state_steps WHERE place = 1 AND alike = 1 AND old BETWEEN 1 AND {largest};
UPDATE pg_temp.unified_state_steps AS s SET new = numbered.new FROM (
        SELECT project, author, uuid, block, last + (SELECT count(*) FROM pg_temp.unified_state_sessions AS n
            WHERE n.project = d.project) + row_number() OVER (PARTITION BY project ORDER BY old, place) AS new
        FROM pg_temp.unified_state_steps AS d JOIN unified_state.numbering USING (project)
        WHERE place > 1 OR old NOT BETWEEN 1 AND {largest}) AS numbered
    WHERE (s.project, s.author, s.uuid, s.block)
        = (numbered.project, numbered.author, numbered.uuid, numbered.block);
UPDATE unified_state.step AS s SET number = coalesce(new, old), session_guessed = session_guessed OR alike > 1
    FROM pg_temp.unified_state_steps AS n
    WHERE s.project = n.project AND s.author = n.author AND s.uuid = n.uuid AND s.block = n.block;
DELETE FROM unified_state.step_copy WHERE (project, author, step) IN (
    SELECT project, author, old FROM pg_temp.unified_state_steps WHERE alike > 1);
UPDATE unified_state.step_copy AS c SET step = new FROM pg_temp.unified_state_steps AS n
    WHERE new IS NOT NULL AND alike = 1 AND c.project = n.project AND c.author = n.author AND c.step = n.old;
UPDATE unified_state.step_words AS w SET number = new FROM pg_temp.unified_state_steps AS n
    WHERE new IS NOT NULL AND alike = 1 AND w.project = n.project AND w.author = n.author AND w.number = n.old;
DO $$
BEGIN
    IF to_regclass('unified_state.step_vector') IS NOT NULL THEN
        ALTER TABLE unified_state.step_vector NO FORCE ROW LEVEL SECURITY;
        DELETE FROM unified_state.step_vector WHERE (project, author, number) IN (
            SELECT project, author, old FROM pg_temp.unified_state_steps WHERE alike > 1);
        UPDATE unified_state.step_vector AS v SET number = new FROM pg_temp.unified_state_steps AS n
            WHERE new IS NOT NULL AND alike = 1 AND v.project = n.project AND v.author = n.author AND v.number = n.old;
        ALTER TABLE unified_state.step_vector FORCE ROW LEVEL SECURITY;
    END IF;
END $$;
UPDATE unified_state.numbering AS known SET last = greatest(last, (SELECT max(number) FROM (
        SELECT new AS number FROM pg_temp.unified_state_sessions WHERE project = known.project
        UNION ALL SELECT new FROM pg_temp.unified_state_steps WHERE project = known.project) AS given));

-- Whoever has such steps is asked for everything again: his archive knows where they belong.
DELETE FROM unified_state.replica WHERE (project, author) IN (
    SELECT project, author FROM pg_temp.unified_state_sessions WHERE alike > 1
    UNION SELECT project, author FROM pg_temp.unified_state_steps WHERE alike > 1);
"""
# No row refers to the numbers of items and compactions.
_RENUMBER = """
WITH given AS (
    SELECT project, author, {key}, last + row_number() OVER (PARTITION BY project ORDER BY number, author, {key}) AS new
    FROM (SELECT *, row_number() OVER (PARTITION BY project, number ORDER BY author, {key}) AS place
        FROM unified_state.{table}) AS placed JOIN unified_state.numbering USING (project)
    WHERE place > 1 OR number NOT BETWEEN 1 AND {largest}
), changed AS (
    UPDATE unified_state.{table} AS t SET number = new FROM given AS n
    WHERE t.project = n.project AND t.author = n.author AND t.{key} = n.{key}
)
UPDATE unified_state.numbering AS known SET last = (SELECT max(new) FROM given WHERE project = known.project)
WHERE project IN (SELECT project FROM given);
"""
_UNIQUE = """
DROP INDEX unified_state.step_by_number;
CREATE UNIQUE INDEX step_by_number ON unified_state.step (project, number);
CREATE UNIQUE INDEX session_by_number ON unified_state.session (project, number);
CREATE UNIQUE INDEX item_by_number ON unified_state.item (project, number);
CREATE UNIQUE INDEX compaction_by_number ON unified_state.compaction (project, number);
"""
_NO_WRITING = (
    AS_STEPS.replace("GRANT %s", "REVOKE %s")
    .replace(" TO %I", " FROM %I")
    .replace("'SELECT', ", "")
    .replace("{table}", "numbering")
)


def safe_numbers(policies: str, *, distributed: bool) -> str:
    """Return the migration to safe numbers.

    Keys contain the author, numbers are unique and assigned, and members cannot write them. `policies` restrict the
    rows. A distributed server is not repaired, and its policies read no other table. There only the keys separate
    authors.
    """
    checks = _CHECKS.format(largest=_LARGEST)
    keys = _GIVEN + _SAFE_KEYS.format(largest=_LARGEST) + _NO_WRITING
    if distributed:
        return f"{keys}{checks}ALTER TABLE unified_state.numbering NO FORCE ROW LEVEL SECURITY;\n"
    repair = _REPAIR.format(largest=_LARGEST) + "".join(
        _RENUMBER.format(table=table, key=key, largest=_LARGEST)
        for table, key in (("item", "uuid"), ("compaction", "boundary"))
    )
    return "".join((keys, _without_row_security(repair), checks, _UNIQUE, policies))


def _without_row_security(repair: str) -> str:
    """Return statements that the owner of the tables runs on all members' rows."""
    forced = "".join(f"ALTER TABLE unified_state.{table} {{}}FORCE ROW LEVEL SECURITY;\n" for table in _REPAIRED)
    return forced.replace("{}", "NO ") + repair + forced.replace("{}", "")

"""What differs on a distributed server (Citus): how the tables are laid out, and how access is checked.

The tables of tenants are reference tables: each node has all of their rows in one shard. The functions for access
control read that shard by its own name, because Citus would plan their statements anew for each row.
"""

from __future__ import annotations

from unified_state.team.postgres.postgres_values import STEP_COLUMNS
from unified_state.team.postgres.schema.items_sql import OPEN_AUTHORS
from unified_state.team.postgres.schema.search_sql import best
from unified_state.team.postgres.schema.tables_sql import CALLING, DECIDING, READABLE

_REFERENCE_TABLES = ("version", "organisation", "member", "project")
_PROJECT = """EXISTS (SELECT FROM unified_state.project
        WHERE organisation = current_setting('unified_state.organisation', true)
            AND name = current_setting('unified_state.project', true) AND id = of_project)"""
# What policies ask for each row: whether it belongs to the project of the current member, and to an author whom this
# member reads, or to the member, who writes.
_OF_ROWS = (
    (
        "reads(of_project bigint, of_author integer)",
        "boolean",
        f"""{_PROJECT} AND CASE WHEN of_author = unified_state.author() THEN true
            ELSE of_author = ANY (unified_state.readable()) END""",
    ),
    (
        "is_own(of_project bigint, of_author integer)",
        "boolean",
        f"""{_PROJECT} AND of_author = unified_state.author()
        AND EXISTS (SELECT FROM unified_state.member
            WHERE organisation = current_setting('unified_state.organisation', true) AND id = of_author AND writes)""",
    ),
)
# A function that runs as the owner checks the member once and notes the result, instead of once for each row. A member
# cannot note it: his own statements do not run as the owner.
_SEEN = """CASE WHEN current_user = {owner} AND current_setting('unified_state.inside', true) = 'on'
    THEN project = current_setting('unified_state.inside_project', true)::bigint
        AND author = ANY (current_setting('unified_state.inside_readable', true)::integer[])
    ELSE unified_state.reads(project, author) END"""
_NUMBERED = "project = unified_state.project()"
_ON_THE_NODE = """
CREATE OR REPLACE FUNCTION unified_state.{signature} RETURNS {returns} LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $body$ BEGIN RETURN ({body}); END $body$;
"""
# Name the shards in statements. In the test's place of Citus a table has none.
_NAMING = r"""
DO $naming$
DECLARE
    statements text := $statements${statements}$statements$;
    shard record;
BEGIN
    FOR shard IN SELECT relname AS name,
            relname || coalesce('_' || get_shard_id_for_distribution_column(oid::regclass), '') AS own FROM pg_class
        WHERE relnamespace = 'unified_state'::regnamespace AND relname IN ('organisation', 'member', 'project')
    LOOP
        statements := regexp_replace(statements, format('unified_state\.%s(?! AS|\(|\w|'')', shard.name),
            format('unified_state.%s AS %s', shard.own, shard.name), 'g');
        statements := regexp_replace(statements, format('unified_state\.%s AS (?!%s)', shard.name, shard.name),
            format('unified_state.%s AS ', shard.own), 'g');
    END LOOP;
    EXECUTE statements;
END $naming$;
"""
# A search runs on the node of the project. It runs as the owner, so the policies ask nothing for each row: the member
# is checked here, once. The first argument says which node that is.
_SEARCHING_THERE = """
CREATE OR REPLACE FUNCTION unified_state.search_there(
    here bigint, of_organisation text, of_project text, of_member text, asked text[], vector text, dimensions integer,
    model text, of_session text, of_kind text, of_tool text, since bigint, until bigint, candidates integer,
    most integer
) RETURNS TABLE (_number bigint, _author integer, _score double precision, _session text, _member text, {columns})
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    seen integer[];
    sessions bigint[];
    numbers bigint[];
    authors integer[];
    scores double precision[];
BEGIN
    PERFORM unified_state.tell('unified_state.inside', 'off');
    seen := unified_state.ask(of_organisation, of_project, of_member);
    IF unified_state.author() IS NULL OR unified_state.project() IS DISTINCT FROM here THEN
        RAISE insufficient_privilege USING MESSAGE = 'not a member';
    END IF;
    PERFORM unified_state.tell('unified_state.inside_project', here::text),
        unified_state.tell('unified_state.inside_readable', seen::text),
        unified_state.tell('unified_state.inside', 'on');
    IF of_session IS NOT NULL THEN
        SELECT coalesce(array_agg(s.number), '{{}}') INTO sessions FROM unified_state.session AS s
            WHERE s.project = here AND s.author = ANY (seen) AND s.session_id = of_session;
    END IF;
    IF cardinality(asked) > 0 AND vector IS NOT NULL THEN
        SELECT array_agg(b.number), array_agg(b.author), array_agg(b.score) INTO numbers, authors, scores
            FROM ({both}) AS b;
    ELSIF vector IS NOT NULL THEN
        SELECT array_agg(b.number), array_agg(b.author), array_agg(b.score) INTO numbers, authors, scores
            FROM ({near}) AS b;
    ELSE
        SELECT array_agg(b.number), array_agg(b.author), array_agg(b.score) INTO numbers, authors, scores
            FROM ({matched}) AS b;
    END IF;
    RETURN QUERY SELECT step.number, step.author, best.score, s.session_id, unified_state.name_of(step.author),
            {selected}
        FROM unnest(numbers, authors, scores) AS best (number, author, score)
        JOIN unified_state.step ON step.project = here AND step.number = best.number AND step.author = best.author
        JOIN unified_state.session AS s ON s.project = here AND s.author = step.author AND s.number = step.session
        ORDER BY best.score DESC, best.number DESC;
    PERFORM unified_state.tell('unified_state.inside', 'off');
END $$;
"""
# Numbers are assigned on the node of the project too. There the owner's change and the member's are of one connection;
# Citus refuses a transaction in which two users change the same shards from elsewhere.
_TAKING_THERE = """
CREATE OR REPLACE FUNCTION unified_state.take_numbers_there(here bigint, many bigint) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF unified_state.project() IS DISTINCT FROM here THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied: another project';
    END IF;
    RETURN unified_state.take_numbers(many);
END $$;
"""
_DELEGATED = (
    "search_there(bigint,text,text,text,text[],text,integer,text,text,text,text,bigint,bigint,integer,integer)",
    "take_numbers_there(bigint,bigint)",
)
_DELEGATING = """
SELECT create_distributed_function('unified_state.{function}', 'here', colocate_with := 'unified_state.{first}',
    force_delegation := true);
"""


def distribution(tables: tuple[str, ...], added: dict[str, int], known: int) -> str:
    """Return the statements that distribute the tables newer than the known schema version (0: a new schema)."""
    if known:
        laid = "".join(distribute(table, tables[0]) for table, version in added.items() if version > known)
    else:
        laid = "SET LOCAL citus.multi_shard_modify_mode TO 'sequential';\n" + "".join(
            (
                *(f"SELECT create_reference_table('unified_state.{table}');\n" for table in _REFERENCE_TABLES),
                *(distribute(table, tables[0]) for table in tables),
            )
        )
    return (
        laid
        + _deciding_on_nodes()
        + _searching_there()
        + _TAKING_THERE
        + "".join(_DELEGATING.format(function=function, first=tables[0]) for function in _DELEGATED)
        + CALLING
    )


def distribute(table: str, first: str) -> str:
    """Return the statement that distributes a table, beside the first one."""
    beside = "" if table == first else f", colocate_with => 'unified_state.{first}'"
    return f"SELECT create_distributed_table('unified_state.{table}', 'project'{beside});\n"


def _searching_there() -> str:
    """Return the statements that let a search run on the node of its project."""
    values = {name: name for name in ("vector", "dimensions", "model", "sessions", "since", "until", "candidates")}
    values |= {"words": "asked", "kind": "of_kind", "tool": "of_tool", "limit": "most"}
    names = [*((column.name, column.type) for column in STEP_COLUMNS), ("unknown", "text")]
    return _SEARCHING_THERE.format(
        columns=", ".join(f"_{name} {kind}" for name, kind in names),
        selected=", ".join(f"step.{name}" for name, _ in names),
        both=best(words=True, vector=True, values=values),
        near=best(words=False, vector=True, values=values),
        matched=best(words=True, vector=False, values=values),
    )


def row_conditions(table: str) -> tuple[str, str]:
    """Return which rows of a table are seen, and which are changed. Citus refuses sub-selects in policies."""
    if table == "numbering":  # which has no author
        return _NUMBERED, f"{_NUMBERED} AND unified_state.may_write()"
    return _SEEN, "unified_state.is_own(project, author)"


def deciding() -> str:
    """Return the functions for access control that only policies of a distributed server call."""
    return _functions(_OF_ROWS)


def _deciding_on_nodes() -> str:
    return _NAMING.replace("{statements}", _functions((*DECIDING, READABLE, OPEN_AUTHORS, *_OF_ROWS)))


def _functions(rows: tuple[tuple[str, str, str], ...]) -> str:
    return "".join(_ON_THE_NODE.format(signature=name, returns=kind, body=body) for name, kind, body in rows)

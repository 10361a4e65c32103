"""The migrations of the server's schema. Never edit a released migration.

Only the newest text of each function exists, and every migration replaces the functions. `distributed` is for Citus,
where the same tables have shards, and their policies have another form.
"""

from __future__ import annotations

from re import sub

from unified_state.team.postgres.schema import distributed_sql
from unified_state.team.postgres.schema.items_sql import shared_items
from unified_state.team.postgres.schema.numbers_sql import NUMBERED_TABLES, TAKING, safe_numbers
from unified_state.team.postgres.schema.search_sql import (
    INDEXED_DIMENSIONS,
    NEAREST,
    PASSES,
    SEARCH,
    SEARCHING,
    VECTOR_INDEX,
)
from unified_state.team.postgres.schema.tables_sql import (
    AS_STEPS,
    CALLING,
    ENTERING,
    HISTORY_TABLES,
    INDEXES,
    MASKING,
    NUMBERING,
    READABLE,
    TENANTS,
    definer,
    table,
)

# From here on words that stand once in a step have no place. Older rows keep theirs, which changes no search.
_LEAN_WORDS = "COMMENT ON COLUMN unified_state.step_words.words IS 'the places of a word that stands once are left out'"
_ADDED = {"numbering": 2, "replica": 4}  # by the schema version that adds them
DISTRIBUTED_TABLES = (*HISTORY_TABLES, *_ADDED)  # the other tables are colocated with the first one

VERSION = """
CREATE SCHEMA unified_state;
CREATE TABLE unified_state.version (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
"""

FUNCTIONS = "".join(
    (
        SEARCHING.replace("{passes}", PASSES.replace("{here}", "here")),
        TAKING,
        ENTERING.replace("{history}", ", ".join(f"unified_state.{table}" for table in DISTRIBUTED_TABLES)),
        CALLING,
    )
)


def migrations(*, distributed: bool) -> tuple[str, ...]:
    """Return the migrations by version, without functions that no table needs."""
    return (
        "".join(
            (
                TENANTS,
                distributed_sql.deciding() if distributed else "",
                _tenant_policies(),
                *(table(name, distributed=distributed) for name in HISTORY_TABLES),
                INDEXES,
                SEARCH,
                *(policies(table, distributed=distributed) for table in HISTORY_TABLES),
            )
        ),
        NUMBERING + policies("numbering", distributed=distributed) + AS_STEPS.replace("{table}", "numbering"),
        MASKING,
        table("replica", distributed=distributed)
        + policies("replica", distributed=distributed)
        + AS_STEPS.replace("{table}", "replica"),
        safe_numbers("".join(map(_given_numbers, NUMBERED_TABLES)), distributed=distributed),
        shared_items(distributed=distributed),
        definer(*READABLE).replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"),
        _LEAN_WORDS,
    )


def vectors(schema: str, *, distributed: bool) -> str:
    """Return the statements that create the table of vectors, with the extension in a schema."""
    return "".join(
        (
            table("step_vector", distributed=distributed).replace("{schema}", schema),
            *(VECTOR_INDEX.format(schema=schema, dimensions=dimensions) for dimensions in INDEXED_DIMENSIONS),
            policies("step_vector", distributed=distributed),
            AS_STEPS.replace("{table}", "step_vector"),
            nearest(schema),
            distributed_sql.distribute("step_vector", DISTRIBUTED_TABLES[0]) if distributed else "",
        )
    )


def nearest(schema: str) -> str:
    """Return the statements that create the function for vector searches, with the extension in a schema."""
    asked = {"of_kind": "$5", "of_tool": "$6", "since": "$7", "until": "$8"}
    passes = PASSES.replace("{here}", "%2$s")
    for name, place in asked.items():
        passes = sub(rf"(?<![.\w]){name}\b", place, passes)
    return NEAREST.replace("{schema}", schema).replace("{passes}", passes) + CALLING


def distribution(known: int) -> str:
    """Return the statements that distribute the tables newer than the known schema version (0: a new schema)."""
    return distributed_sql.distribution(DISTRIBUTED_TABLES, _ADDED, known)


def policies(table: str, *, distributed: bool) -> str:
    """Return the row security of a table, which applies to its owner too.

    A sub-select calls its function once for each statement instead of once for each row. On a distributed server a
    policy cannot have one. `{owner}` stands for the owner of the tables there.
    """
    seen, changed = distributed_sql.row_conditions(table) if distributed else _conditions(table)
    if table == "step_words":
        seen += " AND words @@ unified_state.wanted()"
    return f"""
ALTER TABLE unified_state.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY readable ON unified_state.{table} FOR SELECT USING ({seen});
CREATE POLICY insertable ON unified_state.{table} FOR INSERT WITH CHECK ({changed});
CREATE POLICY changeable ON unified_state.{table} FOR UPDATE USING ({changed}) WITH CHECK ({changed});
CREATE POLICY deletable ON unified_state.{table} FOR DELETE USING ({changed});
"""


def _conditions(table: str) -> tuple[str, str]:
    """Return which rows of a table are seen, and which are changed."""
    here, author, may_write, readable = (
        f"(SELECT unified_state.{name}())" for name in ("project", "author", "may_write", "readable")
    )
    seen = changed = f"project = {here}"
    if table != "numbering":  # which has no author
        seen += f" AND author = ANY ({readable}::integer[])"
        changed += f" AND author = {author}"
    return seen, f"{changed} AND {may_write}"


def _given_numbers(table: str) -> str:
    """Return the policies that accept only assigned numbers. Without them a member could occupy the next ones."""
    own = (
        "project = (SELECT unified_state.project()) AND author = (SELECT unified_state.author()) "
        "AND (SELECT unified_state.may_write())"
    )
    checked = f"WITH CHECK ({own} AND number <= (SELECT unified_state.given()))"
    return f"""
ALTER POLICY insertable ON unified_state.{table} {checked};
ALTER POLICY changeable ON unified_state.{table} {checked};
"""


def _tenant_policies() -> str:
    return "".join(
        f"ALTER TABLE unified_state.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\n"
        f"CREATE POLICY of_organisation ON unified_state.{table} "
        f"USING ({name} = current_setting('unified_state.organisation', true));\n"
        for table, name in (("organisation", "name"), ("member", "organisation"), ("project", "organisation"))
    )


SCHEMA_VERSION = len(migrations(distributed=False))

"""The schema of the server, by migrations. Never edit one that was released."""

from __future__ import annotations

from re import sub

from unified_state.storage.tiers.postgres.schema_history import HISTORY, HISTORY_TABLES, PARTITIONED_TABLES
from unified_state.storage.tiers.postgres.schema_search import PASSES, SEARCH
from unified_state.storage.tiers.postgres.schema_tenancy import ENTERING, TENANTS
from unified_state.storage.tiers.postgres.schema_vectors import INDEXED_DIMENSIONS, VECTOR_GRANTS, VECTOR_INDEX, VECTORS

PARTITIONS = 16

VERSION = """
CREATE SCHEMA unified_state;
CREATE TABLE unified_state.version (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
"""


def partitions(table: str) -> str:
    """The partitions of a table."""
    return "".join(
        f"CREATE TABLE unified_state.{table}_{number} PARTITION OF unified_state.{table} "
        f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number});\n"
        for number in range(PARTITIONS)
    )


_HERE = "project = (SELECT unified_state.project())"
_MINE = f"{_HERE} AND author = (SELECT unified_state.author()) AND (SELECT unified_state.may_write())"
_READABLE = f"{_HERE} AND author = ANY ((SELECT unified_state.readable())::integer[])"


def policies(table: str) -> str:
    """Row security for everybody, the owner too. Each function is asked once a statement, not once a row."""
    readable = _READABLE + (" AND words @@ unified_state.wanted()" if table == "step_words" else "")
    return f"""
ALTER TABLE unified_state.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY readable ON unified_state.{table} FOR SELECT USING ({readable});
CREATE POLICY insertable ON unified_state.{table} FOR INSERT WITH CHECK ({_MINE});
CREATE POLICY changeable ON unified_state.{table} FOR UPDATE USING ({_MINE}) WITH CHECK ({_MINE});
CREATE POLICY deletable ON unified_state.{table} FOR DELETE USING ({_MINE});
"""


def _tenant_policies() -> str:
    return "".join(
        f"ALTER TABLE unified_state.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\n"
        f"CREATE POLICY of_organisation ON unified_state.{table} "
        f"USING ({name} = current_setting('unified_state.organisation', true));\n"
        for table, name in (("organisation", "name"), ("member", "organisation"), ("project", "organisation"))
    )


_MASKING = "ALTER TABLE unified_state.step ADD COLUMN masked_at bigint;  -- when secrets in it were masked, later on\n"

MIGRATIONS = (
    "".join(
        (
            TENANTS,
            _tenant_policies(),
            HISTORY,
            SEARCH.replace("{passes}", PASSES),
            *map(partitions, PARTITIONED_TABLES),
            *map(policies, HISTORY_TABLES),
            ENTERING.replace("{history}", ", ".join(f"unified_state.{table}" for table in HISTORY_TABLES)),
        )
    ),
    _MASKING,
)


def vectors(schema: str) -> str:
    """The table of vectors, with the extension in a schema."""
    asked = {"of_kind": "$5", "of_tool": "$6", "since": "$7", "until": "$8"}
    passes = PASSES
    for name, place in asked.items():
        passes = sub(rf"(?<![.\w]){name}\b", place, passes)
    return "".join(
        (
            VECTORS.replace("{schema}", schema).replace("{passes}", passes),
            partitions("step_vector"),
            *(VECTOR_INDEX.format(schema=schema, dimensions=dimensions) for dimensions in INDEXED_DIMENSIONS),
            policies("step_vector"),
            VECTOR_GRANTS,
        )
    )

"""The schema of the server, by migrations. Never edit one that was released."""

from __future__ import annotations

from unified_state.storage.tiers.postgres.schema_history import HISTORY, HISTORY_TABLES, PARTITIONED_TABLES
from unified_state.storage.tiers.postgres.schema_search import SEARCH
from unified_state.storage.tiers.postgres.schema_tenancy import ENTERING, TENANTS

PARTITIONS = 16

VERSION = """
CREATE SCHEMA unified_state;
CREATE TABLE unified_state.version (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
"""


def _partitions() -> str:
    return "".join(
        f"CREATE TABLE unified_state.{table}_{number} PARTITION OF unified_state.{table} "
        f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number});\n"
        for table in PARTITIONED_TABLES
        for number in range(PARTITIONS)
    )


def _policies() -> str:
    """Row security for everybody, the owner too. Each function is asked once a statement, not once a row."""
    asking = "current_setting('unified_state.organisation', true)"
    here = "project = (SELECT unified_state.project())"
    mine = f"{here} AND author = (SELECT unified_state.author()) AND (SELECT unified_state.may_write())"
    readable = f"{here} AND author = ANY ((SELECT unified_state.readable())::integer[])"
    conditions = dict.fromkeys(HISTORY_TABLES, readable)
    conditions["step_words"] = f"{readable} AND words @@ unified_state.wanted()"
    statements = [
        f"ALTER TABLE unified_state.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        for table in (*HISTORY_TABLES, "organisation", "member", "project")
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


_GRANTED = ", ".join(f"unified_state.{table}" for table in HISTORY_TABLES)
MIGRATIONS = (TENANTS + ENTERING.replace("{history}", _GRANTED) + HISTORY + _partitions() + SEARCH + _policies(),)

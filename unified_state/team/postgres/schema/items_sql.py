"""The server's own id, and the items of others: the migration that adds both.

A member reads an item of another one if that item is `shared`, or if its author agreed to share the earlier ones. The
rows that exist when this migration runs are not shared: their authors recorded them when colleagues could not find
them.
"""

from __future__ import annotations

from unified_state.team.postgres.schema.tables_sql import definer

_OF_ITEMS = ("item", "item_alias", "link")
# One row of `version` has the id. Every node of a distributed server has to write the same one.
_IDENTITY = """
ALTER TABLE unified_state.version ADD COLUMN server text;
DO $$
BEGIN
    EXECUTE format('UPDATE unified_state.version SET server = %L WHERE number = 1', gen_random_uuid());
END $$;
"""
_COLUMNS = """
ALTER TABLE unified_state.member ADD COLUMN shares_earlier boolean NOT NULL DEFAULT false;
ALTER TABLE unified_state.item ADD COLUMN words tsvector;
"""
# Used by policies: the authors whose earlier items the asker reads too.
OPEN_AUTHORS = (
    "open_authors()",
    "integer[]",
    """SELECT coalesce(array_agg(id), '{}') FROM unified_state.member
    WHERE organisation = current_setting('unified_state.organisation', true) AND id = ANY (unified_state.readable())
        AND (shares_earlier OR id = unified_state.author())""",
)


def shared_items(*, distributed: bool) -> str:
    """Return the migration. On a distributed server a policy cannot have a sub-select."""
    here, readable, open_authors = (
        f"unified_state.{name}()" if distributed else f"(SELECT unified_state.{name}())"
        for name in ("project", "readable", "open_authors")
    )
    seen = (
        f"project = {here} AND author = ANY ({readable}::integer[]) "
        f"AND (shared OR author = ANY ({open_authors}::integer[]))"
    )
    return f"{_IDENTITY}{_COLUMNS}{definer(*OPEN_AUTHORS)}" + "".join(
        f"ALTER TABLE unified_state.{table} ADD COLUMN shared boolean NOT NULL DEFAULT false;\n"
        f"ALTER POLICY readable ON unified_state.{table} USING ({seen});\n"
        for table in _OF_ITEMS
    )

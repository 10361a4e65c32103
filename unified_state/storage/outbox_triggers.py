"""What notes for the servers of an archive whatever changes beside new steps, as SQL.

Steps only grow, so how far a server has them is one number. The triggers are made when an archive first knows of a
server: where there is none, nothing is noted, and nothing is paid for it.
"""

from __future__ import annotations

from unified_state.storage.damage import STAND_IN

_GROUPS = ("1, 8", "9, 4", "13, 4", "17, 4", "21")  # of the digits of a UUID
_BLOB_AS_UUID = " || '-' || ".join(f"substr(lower(hex({{0}}.uuid)), {group})" for group in _GROUPS)
_STEP_KEY = f"CASE typeof({{0}}.uuid) WHEN 'blob' THEN {_BLOB_AS_UUID} ELSE {{0}}.uuid END || '/' || {{0}}.block"
_LINK_KEY = "{0}.from_uuid || '/' || {0}.to_uuid || '/' || {0}.relation"


def _note(what: str, key: str, source: str = "", *, is_gone: bool = False, is_changed: bool = False) -> str:
    """The statement that notes something (what it is and its key, as SQL) for the servers, or for those of them that a
    source says.
    """
    return (
        "INSERT OR REPLACE INTO outbox (server, is_gone, what, key, is_changed) "
        f"SELECT outbox_server.id, {is_gone:d}, {what}, {key}, {is_changed:d} FROM outbox_server{source}"
    )


_MAY_HAVE_IT = " WHERE offered >= old.id"
_TOLD_OF_ITEMS = (
    "body", "status", "origin", "alias", "source_uuid", "files", "changed_at", "superseded_by", "quote", "file_hashes",
)  # fmt: skip
_DIFFERS = " OR ".join(f"new.{name} IS NOT old.{name}" for name in _TOLD_OF_ITEMS)
_IS_REPLACED = "old.boundary_uuid NOT NULL AND old.summary NOT NULL AND new.summary IS NOT old.summary"
# One back always, so that a batch which is on its way does not settle it.
_VECTOR_AGAIN = (
    "UPDATE outbox_vectors SET position = min(position, vector.id) - 1 FROM vector "
    "WHERE vector.step = old.id AND vector.model = outbox_vectors.model"
)

_TRIGGERS = {
    "forgotten": ("INSERT ON tombstone", _note("new.what", "new.key", is_gone=True)),
    # A text that was masked later must leave the server. There is no way to put another one in its place.
    "step_masked": (
        "UPDATE OF body ON step WHEN new.kind NOT NULL AND new.body IS NOT old.body",
        _note("'step'", _STEP_KEY.format("old"), _MAY_HAVE_IT, is_gone=True),
    ),
    # An output that was archived before its transcript entry takes the entry's name when that is met.
    "step_renamed": (
        "UPDATE OF uuid ON step WHEN new.uuid IS NOT old.uuid",
        _note("'step'", _STEP_KEY.format("old"), _MAY_HAVE_IT, is_gone=True),
        _note("'step'", "old.id", _MAY_HAVE_IT),
        _VECTOR_AGAIN,
    ),
    # The next vector may get the number of the last one.
    "vector_gone": (
        "DELETE ON vector",
        "UPDATE outbox_vectors SET position = min(position, (SELECT coalesce(max(id), 0) FROM vector))",
    ),
    "item_told": ("INSERT ON item", _note("'item'", "new.uuid")),
    "item_told_again": (
        f"UPDATE OF {', '.join(_TOLD_OF_ITEMS)} ON item WHEN {_DIFFERS}",
        _note("'item'", "new.uuid", is_changed=True),
    ),
    "item_renamed": ("INSERT ON item_alias WHEN new.uuid != ''", _note("'item'", "new.uuid", is_changed=True)),
    "link_told": ("INSERT ON item_link", _note("'link'", _LINK_KEY.format("new"))),
    "compaction_told": (
        "INSERT ON compaction WHEN new.boundary_uuid NOT NULL",
        _note("'compaction'", "new.boundary_uuid"),
    ),
    "compaction_told_again": (
        f"UPDATE OF boundary_uuid, summary ON compaction WHEN new.boundary_uuid NOT NULL AND NOT ({_IS_REPLACED})",
        _note("'compaction'", "new.boundary_uuid"),
    ),
    "summary_masked": (
        f"UPDATE OF summary ON compaction WHEN {_IS_REPLACED}",
        _note("'compaction'", "old.boundary_uuid", is_gone=True),
    ),
}

TRIGGERS = tuple(
    f"CREATE TRIGGER IF NOT EXISTS outbox_{name} AFTER {when} BEGIN {'; '.join(notes)}; END"
    for name, (when, *notes) in _TRIGGERS.items()
)

# What there is already when an archive first knows of a server: all of it is new to that one.
EVERYTHING = tuple(
    f"{statement} AND outbox_server.id = ?1"
    for statement in (
        _note("what", "key", ", tombstone WHERE true", is_gone=True),
        _note(
            "'step'",
            _STEP_KEY.format("step"),
            f", step WHERE kind IS NULL AND uuid != '{STAND_IN}' AND step.id NOT IN (SELECT step FROM pruned)",
            is_gone=True,
        ),
        _note("'item'", "uuid", ", item WHERE true"),
        _note("'link'", _LINK_KEY.format("item_link"), ", item_link WHERE true"),
        _note("'compaction'", "boundary_uuid", f", compaction WHERE boundary_uuid != '{STAND_IN}'"),
    )
)

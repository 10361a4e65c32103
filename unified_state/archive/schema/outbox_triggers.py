"""Triggers that queue for the servers of an archive every change except new steps.

Steps are only appended, so one number records the steps that a server has. An archive without a
server queues nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from unified_state.archive.schema.ledger_tables import STEP_KEY

LINK_KEY = "{0}.from_uuid || '/' || {0}.to_uuid || '/' || {0}.relation"


def _note(what: str, key: str, source: str = "", *, is_gone: bool = False, is_changed: bool = False) -> str:
    """Return the SQL statement that queues a record (its kind and key, as SQL) for all servers, or those that a source
    selects. What is queued as changed stays so until it is sent.
    """
    known = f"server = outbox_server.id AND is_gone = 0 AND what = {what} AND key = {key} AND is_changed = 1"
    changed = "0" if is_gone else "1" if is_changed else f"EXISTS (SELECT 1 FROM outbox WHERE {known})"
    return (
        "INSERT OR REPLACE INTO outbox (server, is_gone, what, key, is_changed) "
        f"SELECT outbox_server.id, {is_gone:d}, {what}, {key}, {changed} FROM outbox_server{source}"
    )


def _change(table: str, *columns: str) -> str:
    differs = " OR ".join(f"new.{name} IS NOT old.{name}" for name in columns)
    return f"UPDATE OF {', '.join(columns)} ON {table} WHEN {differs}"


_MAY_HAVE_IT = " WHERE offered >= old.id"
_OF_ITEMS = ("body", "status", "origin", "alias", "source_uuid", "files", "changed_at", "superseded_by", "quote")
_OF_SESSIONS = ("started_at", "seen_at", "ended_at", "end_reason", "worktree", "branch", "predecessor")
# Of two versions of an item the server uses the later one. Some changes do not set the time, and clocks are set back.
_DATE_IT = (
    "UPDATE item SET changed_at = max(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), "
    "coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', old.changed_at, '+0.001 seconds'), '')) "
    "WHERE uuid = new.uuid AND coalesce(new.changed_at, '') <= coalesce(old.changed_at, '') "
    "AND EXISTS (SELECT 1 FROM outbox_server)"
)
_IS_CARRIED = "WHEN new.what IN ('session', 'step', 'compaction')"
_OF_COMPACTION = "new.what = 'compaction' AND compaction.id = new.key AND boundary_uuid NOT NULL"
_NOTE_CARRIED = (
    _note("'session'", "session_id", ", session WHERE new.what = 'session' AND session.id = new.key"),
    _note("'step'", "new.key", " WHERE new.what = 'step' AND offered >= new.key", is_changed=True),
    _note("'compaction'", "boundary_uuid", f", compaction WHERE {_OF_COMPACTION}"),
)
_NOTE_STEP = _note("'step'", "new.step", " WHERE offered >= new.step")
_NOTE_SESSION, _NOTE_ITEM = _note("'session'", "new.session_id"), _note("'item'", "new.uuid")
_HAS_BOUNDARY, _NOTE_COMPACTION = "WHEN new.boundary_uuid NOT NULL", _note("'compaction'", "new.boundary_uuid")
_GONE_STEP = _note("'step'", STEP_KEY.format("old"), _MAY_HAVE_IT, is_gone=True)
_TRIGGERS = {
    "forgotten": ("INSERT ON tombstone", _note("new.what", "new.key", is_gone=True)),
    # The carried fields of a record have the time of its masking, and may be the masked ones.
    "carried_told": (f"INSERT ON carried {_IS_CARRIED}", *_NOTE_CARRIED),
    "carried_told_again": (f"UPDATE OF fields ON carried {_IS_CARRIED}", *_NOTE_CARRIED),
    # An output archived before its transcript entry gets the uuid of that entry later.
    "step_renamed": (_change("step", "uuid"), _GONE_STEP, _note("'step'", "old.id", _MAY_HAVE_IT)),
    "copied": ("INSERT ON step_copy", _NOTE_STEP),
    "vector_told": ("INSERT ON vector", _NOTE_STEP),
    "session_told": ("INSERT ON session", _NOTE_SESSION),
    "session_told_again": (_change("session", *_OF_SESSIONS), _NOTE_SESSION),
    "item_told": ("INSERT ON item", _NOTE_ITEM),
    "item_told_again": (_change("item", *_OF_ITEMS, "file_hashes"), _DATE_IT, _NOTE_ITEM),
    "item_renamed": ("INSERT ON item_alias WHEN new.uuid != ''", _NOTE_ITEM),
    "link_told": ("INSERT ON item_link", _note("'link'", LINK_KEY.format("new"))),
    "compaction_told": (f"INSERT ON compaction {_HAS_BOUNDARY}", _NOTE_COMPACTION),
    "compaction_told_again": (f"UPDATE OF boundary_uuid, summary ON compaction {_HAS_BOUNDARY}", _NOTE_COMPACTION),
}

OUTBOX_TRIGGERS = ";\n".join(
    f"CREATE TRIGGER outbox_{name} AFTER {when} BEGIN {'; '.join(notes)}; END"
    for name, (when, *notes) in _TRIGGERS.items()
)

_FORGOTTEN_STEPS = ", step WHERE kind IS NULL AND step.id NOT IN (SELECT step FROM pruned)"
_EVERYTHING = (
    _note("what", "key", ", tombstone WHERE true", is_gone=True),
    _note("'step'", STEP_KEY.format("step"), _FORGOTTEN_STEPS, is_gone=True),
    _note("'session'", "session_id", ", session WHERE true"),
    _note("'item'", "uuid", ", item WHERE true"),
    _note("'link'", LINK_KEY.format("item_link"), ", item_link WHERE true"),
    _note("'compaction'", "boundary_uuid", ", compaction WHERE boundary_uuid NOT NULL"),
)


def note_everything(run: Callable[[str, int], int], server: int) -> None:
    """Queue everything except steps for a new server. `run` runs a statement. Call it within a transaction."""
    for statement in _EVERYTHING:
        run(f"{statement} AND outbox_server.id = ?1", server)


def note_vectors(run: Callable[[str, int], int], server: int) -> None:
    """Queue the steps that a server may have and that have a vector. Call it within a transaction."""
    run(_note("'step'", "vector.step", ", vector WHERE offered >= vector.step AND outbox_server.id = ?1"), server)

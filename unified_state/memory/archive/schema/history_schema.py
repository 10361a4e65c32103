"""What interchangeable tiers add to the tables of the archive: what other stores know and it has no column for, and
what was forgotten, by names that hold in every store.

Tombstones are written by triggers, so that nothing can be forgotten without one, in the same transaction.
"""

from __future__ import annotations

_DIGITS = "lower(hex(new.uuid))"
_PARTS = " || '-' || ".join(
    f"substr({_DIGITS}, {first}, {count})" for first, count in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
)

TIERS = f"""
CREATE TABLE carried (            -- the fields of another store's record that have no column here
    what TEXT NOT NULL,           -- step, item, compaction, session
    key NOT NULL,                 -- the number of a step, compaction or session; the UUID of an item
    fields NOT NULL,              -- by name as JSON, packed like a body
    PRIMARY KEY (what, key)
) WITHOUT ROWID;

CREATE TABLE tombstone (          -- what was forgotten: here, or in a store whose history came here
    what TEXT NOT NULL,
    key TEXT NOT NULL,            -- as in unified_state.model.history_records.Tombstone
    at INTEGER NOT NULL,
    waits INTEGER,                -- 1 while what it names was never here
    PRIMARY KEY (what, key)
) WITHOUT ROWID;
CREATE INDEX tombstone_waiting ON tombstone (what, key) WHERE waits;

CREATE TRIGGER step_forgotten AFTER UPDATE OF kind ON step WHEN new.kind IS NULL AND old.kind NOT NULL
AND NOT EXISTS (SELECT 1 FROM pruned WHERE step = new.id)
BEGIN INSERT OR IGNORE INTO tombstone (what, key, at) VALUES ('step',
CASE typeof(new.uuid) WHEN 'blob' THEN {_PARTS} ELSE new.uuid END || '/' || new.block, new.at); END;

CREATE TRIGGER item_forgotten AFTER DELETE ON item
BEGIN INSERT OR IGNORE INTO tombstone (what, key, at) VALUES ('item', old.uuid, 0); END;

CREATE TRIGGER summary_forgotten AFTER UPDATE OF summary ON compaction
WHEN new.summary = '[forgotten]' AND new.boundary_uuid NOT NULL
BEGIN INSERT OR IGNORE INTO tombstone (what, key, at) VALUES ('compaction', new.boundary_uuid, new.started_at); END;

CREATE TRIGGER session_forgotten AFTER UPDATE OF forgotten_at ON session WHEN new.forgotten_at NOT NULL
BEGIN INSERT OR REPLACE INTO tombstone (what, key, at) VALUES ('session', new.session_id, new.forgotten_at); END;

ALTER TABLE item_alias RENAME TO one_item_alias;
CREATE TABLE item_alias (         -- earlier names of items that were renamed in a merge; one name may be several items'
    alias TEXT NOT NULL,
    uuid TEXT NOT NULL,           -- empty: the name of a forgotten item
    PRIMARY KEY (alias, uuid)
) WITHOUT ROWID;
INSERT INTO item_alias SELECT alias, uuid FROM one_item_alias;
DROP TABLE one_item_alias;
CREATE INDEX item_alias_of ON item_alias (uuid);
"""

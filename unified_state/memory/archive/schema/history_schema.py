"""Migrations of the archive: history for other stores, the outbox, short outputs, pruned steps, vectors."""

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


OUTBOX = """
CREATE TABLE outbox_server (      -- whom this archive is replicated to, how far, and how the last run went
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,    -- what tells it from others; no password
    step INTEGER NOT NULL DEFAULT 0,     -- up to where it has the steps
    offered INTEGER NOT NULL DEFAULT 0,  -- up to where it may have some
    began_at INTEGER,
    ended_at INTEGER,             -- older than began_at: the run is at work, or was cut off
    complete_at INTEGER,          -- when it had everything
    failures INTEGER NOT NULL DEFAULT 0, -- runs since the last one that went well
    error TEXT
);

CREATE TABLE outbox (             -- what a server is to be told beside new steps, the newest change of each thing
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    server INTEGER NOT NULL REFERENCES outbox_server,
    is_gone INTEGER NOT NULL,     -- whether it was forgotten; that is told first
    what TEXT NOT NULL,           -- step, item, link, compaction, session
    key NOT NULL,                 -- of what is gone as its tombstone has it
    is_changed INTEGER NOT NULL,  -- whether it was told before in another form
    UNIQUE (server, is_gone, what, key)
);

CREATE TABLE outbox_session (     -- of each session what a server knows of it
    server INTEGER NOT NULL REFERENCES outbox_server,
    session INTEGER NOT NULL REFERENCES session,
    digest TEXT,                  -- of the session as it was told
    copies INTEGER NOT NULL DEFAULT 0,   -- how many of the steps up to outbox_server.step it has as copies
    position INTEGER NOT NULL DEFAULT 0, -- up to where the copies are told that came later
    PRIMARY KEY (server, session)
) WITHOUT ROWID;

CREATE TABLE outbox_vectors (     -- of each model up to which of its vectors a server has them
    server INTEGER NOT NULL REFERENCES outbox_server,
    model INTEGER NOT NULL REFERENCES vector_model,
    position INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (server, model)
) WITHOUT ROWID;
"""


LEAN = """
CREATE TABLE shortened (          -- tool outputs of which the model was given a short form
    step INTEGER PRIMARY KEY REFERENCES step,  -- that holds the whole
    session INTEGER NOT NULL REFERENCES session,
    agent TEXT,
    tool_use_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    digest INTEGER NOT NULL,      -- of the call and its output
    level INTEGER NOT NULL,
    whole INTEGER NOT NULL,       -- characters
    shown INTEGER NOT NULL,       -- characters
    recalls INTEGER NOT NULL DEFAULT 0,
    recalled INTEGER NOT NULL DEFAULT 0,  -- characters that were shown after all
    awaited INTEGER,              -- 1 until the transcript's entry of the output was met
    place INTEGER                 -- the step before it in the transcript
);
CREATE INDEX shortened_by_session ON shortened (session, awaited);
"""

UNINDEXED = """
CREATE TABLE unindexed (          -- steps whose texts the full-text index does not hold yet
    step INTEGER PRIMARY KEY REFERENCES step
);
"""


PRUNED = """
CREATE TABLE pruned (             -- steps that keep their row without content, so that no transcript brings them back
    step INTEGER PRIMARY KEY REFERENCES step
);
"""


VECTORS = """
CREATE TABLE vector_model (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    stamp TEXT NOT NULL DEFAULT (hex(randomblob(16))),
    UNIQUE (name, version)
);

CREATE TABLE vector (
    id INTEGER PRIMARY KEY,       -- in the order in which they came: what is derived reads on from the last one
    step INTEGER NOT NULL REFERENCES step,
    model INTEGER NOT NULL REFERENCES vector_model,
    embedding BLOB NOT NULL,      -- of unit length, float16, little-endian
    UNIQUE (step, model)
);

CREATE TRIGGER vector_deleted AFTER DELETE ON vector
    BEGIN UPDATE vector_model SET stamp = hex(randomblob(16)) WHERE id = old.model; END;
CREATE TRIGGER vector_changed AFTER UPDATE ON vector
    BEGIN UPDATE vector_model SET stamp = hex(randomblob(16)) WHERE id = old.model; END;
"""

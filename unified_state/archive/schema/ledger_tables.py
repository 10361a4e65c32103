"""The tables of the ledger: items, notes, and what tells other sessions, files and servers of them."""

from __future__ import annotations

_GROUPS = ("1, 8", "9, 4", "13, 4", "17, 4", "21")  # of the digits of a UUID
_BLOB_AS_UUID = " || '-' || ".join(f"substr(lower(hex({{0}}.uuid)), {group})" for group in _GROUPS)
STEP_KEY = f"CASE typeof({{0}}.uuid) WHEN 'blob' THEN {_BLOB_AS_UUID} ELSE {{0}}.uuid END || '/' || {{0}}.block"

# Every change of a constraint deletes the stamp. The process that compiles the table sets a new one, which the table
# has too. An empty stamp means that no table exists and none is needed.
LEDGER_TABLES = f"""
CREATE TABLE counter (letter TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE item (               -- the ledger
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    alias TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    body NOT NULL,                -- the fields of the kind as JSON, packed like a body
    status TEXT NOT NULL,
    origin TEXT NOT NULL,
    created_at TEXT NOT NULL,
    changed_at TEXT,
    session_id TEXT,
    source_uuid TEXT,
    commit_id TEXT,
    branch TEXT,
    files TEXT,                   -- JSON
    superseded_by TEXT,           -- UUID
    paged_out_at TEXT,             -- when it left the state file; NULL while it is there
    quote,                        -- of its source, packed like a body
    quote_hash TEXT,              -- SHA-256
    rule TEXT,                    -- by which it was captured; NULL where it was recorded
    capture_key TEXT,             -- of the captured event, so that it is captured once
    compaction INTEGER,           -- whose summary named it
    file_hashes TEXT              -- the versions of its files when it was recorded, as JSON
);
CREATE INDEX item_by_kind ON item (kind, status);
CREATE TABLE item_link (
    from_uuid TEXT NOT NULL,
    to_uuid TEXT NOT NULL,
    relation TEXT NOT NULL,       -- supersedes, duplicates, changes
    at TEXT NOT NULL,
    PRIMARY KEY (from_uuid, to_uuid, relation)
) WITHOUT ROWID;
CREATE TABLE item_alias (         -- earlier names of items that were renamed in a merge; one name may be several items'
    alias TEXT NOT NULL,
    uuid TEXT NOT NULL,           -- empty: the name of a forgotten item
    PRIMARY KEY (alias, uuid)
) WITHOUT ROWID;
CREATE INDEX item_alias_of ON item_alias (uuid);
CREATE UNIQUE INDEX item_by_capture ON item (capture_key);
CREATE INDEX item_by_status ON item (status);
CREATE INDEX item_searched ON item (kind) WHERE (kind != 'evidence' OR rule IS NULL);
CREATE INDEX item_in_file ON item (status) WHERE paged_out_at IS NULL;
CREATE INDEX item_by_rule ON item (rule, session_id) WHERE rule IS NOT NULL;
CREATE INDEX item_without_source ON item (session_id, created_at) WHERE source_uuid IS NULL;
CREATE INDEX item_link_to ON item_link (to_uuid);
CREATE TABLE note (               -- highlights and pending actions, all that were ever given
    id INTEGER PRIMARY KEY,
    session INTEGER REFERENCES session,  -- NULL: adopted from a state file
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL,
    done_at TEXT,                  -- when it was replaced by a newer list
    compaction INTEGER,           -- of a next step: whose summary named it
    key TEXT,                     -- of an entry of the agent's list of what is to be done: its key there,
    state TEXT                    -- and its state
);
CREATE INDEX note_by_session ON note (session, kind);
CREATE TABLE saved (              -- the last save of each worktree: when, why, and its git state as JSON
    state_path TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    trigger TEXT NOT NULL,
    git TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE failing (            -- what a later success of the same call closes
    root TEXT NOT NULL,           -- the worktree that it failed in
    tool TEXT NOT NULL,
    call TEXT NOT NULL,           -- a hash of the command, or of the file
    item TEXT NOT NULL,           -- UUID
    at INTEGER NOT NULL,
    PRIMARY KEY (root, tool, call, item)
) WITHOUT ROWID;
CREATE INDEX failing_by_item ON failing (item);
CREATE TABLE uncaptured (         -- what was captured and forgotten, which must not come back
    capture_key TEXT PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE news (               -- decisions and constraints that came into force, or ceased to hold, in order
    id INTEGER PRIMARY KEY,
    item TEXT NOT NULL,           -- UUID
    session_id TEXT,              -- whose doing it was, as far as that is known; NULL: the user's own terminal
    is_active INTEGER NOT NULL    -- whether the item holds since then
);
CREATE TRIGGER item_recorded AFTER INSERT ON item
WHEN new.kind IN ('decision', 'constraint') AND new.status = 'active'
BEGIN INSERT INTO news (item, session_id, is_active) VALUES (new.uuid, new.session_id, 1); END;
CREATE TRIGGER item_changed AFTER UPDATE OF status ON item
WHEN new.kind IN ('decision', 'constraint') AND (new.status = 'active') != (old.status = 'active')
BEGIN INSERT INTO news (item, session_id, is_active) VALUES (new.uuid,
(SELECT session_id FROM item WHERE uuid = new.superseded_by), new.status = 'active'); END;
CREATE TABLE enforcement (
    changed INTEGER NOT NULL,     -- how often a constraint changed
    stamp TEXT                    -- of the table that was compiled since
);
INSERT INTO enforcement VALUES (0, '');
CREATE TRIGGER constraint_added AFTER INSERT ON item WHEN new.kind = 'constraint'
BEGIN UPDATE enforcement SET changed = changed + 1, stamp = NULL; END;
CREATE TRIGGER constraint_changed AFTER UPDATE OF body, status, origin, alias ON item WHEN new.kind = 'constraint'
BEGIN UPDATE enforcement SET changed = changed + 1, stamp = NULL; END;
CREATE TRIGGER constraint_removed AFTER DELETE ON item WHEN old.kind = 'constraint'
BEGIN UPDATE enforcement SET changed = changed + 1, stamp = NULL; END;
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
BEGIN INSERT OR IGNORE INTO tombstone (what, key, at) VALUES ('step', {STEP_KEY.format("new")}, new.at); END;
CREATE TRIGGER item_forgotten AFTER DELETE ON item
BEGIN INSERT OR IGNORE INTO tombstone (what, key, at) VALUES ('item', old.uuid, 0); END;
CREATE TRIGGER summary_forgotten AFTER UPDATE OF summary ON compaction
WHEN new.summary = '[forgotten]' AND new.boundary_uuid NOT NULL
BEGIN INSERT OR IGNORE INTO tombstone (what, key, at) VALUES ('compaction', new.boundary_uuid, new.started_at); END;
CREATE TRIGGER session_forgotten AFTER UPDATE OF forgotten_at ON session WHEN new.forgotten_at NOT NULL
BEGIN INSERT OR REPLACE INTO tombstone (what, key, at) VALUES ('session', new.session_id, new.forgotten_at); END;
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
"""

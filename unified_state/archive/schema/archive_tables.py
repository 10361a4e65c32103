"""The tables of the archive: of itself, of what transcripts and the client tell, with what is derived from that, and of
the ledger, with what tells other sessions, files and servers of its items.
"""

from __future__ import annotations

_GROUPS = ("1, 8", "9, 4", "13, 4", "17, 4", "21")  # of the digits of a UUID
_BLOB_AS_UUID = " || '-' || ".join(f"substr(lower(hex({{0}}.uuid)), {group})" for group in _GROUPS)
STEP_KEY = f"CASE typeof({{0}}.uuid) WHEN 'blob' THEN {_BLOB_AS_UUID} ELSE {{0}}.uuid END || '/' || {{0}}.block"

# The index has which words a step has, not where and how often: it is a third of the size.
# Every change of a constraint deletes the stamp. The process that compiles the table sets a new one, which the table
# has too. An empty stamp means that no table exists and none is needed.
TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE migration (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL UNIQUE,
    worktree TEXT,
    branch TEXT,
    pid INTEGER,
    started_at INTEGER,
    seen_at INTEGER,              -- the newest entry archived, or the newest hook
    ended_at INTEGER,
    end_reason TEXT,
    predecessor TEXT,             -- the session before /clear, or the one forked from
    forgotten_at INTEGER,         -- what the session said up to then must not be archived again
    tool_calls INTEGER NOT NULL DEFAULT 0,
    work TEXT,                    -- work item and where its git stood, as JSON
    root TEXT,
    news INTEGER                  -- the newest that the session knows
);
CREATE INDEX session_by_seen ON session (seen_at);
CREATE TABLE transcript (         -- how far each file has been read
    path TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session,
    agent TEXT,
    offset INTEGER NOT NULL,
    inode INTEGER,
    turn INTEGER                  -- the turn that is open at the offset
) WITHOUT ROWID;
CREATE TABLE turn (               -- T41
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES session,
    agent TEXT,
    at INTEGER NOT NULL
);
CREATE INDEX turn_by_session ON turn (session);
CREATE TABLE step (               -- S1234; a forgotten one keeps its row, without kind and content
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    turn INTEGER NOT NULL REFERENCES turn,
    uuid NOT NULL,                -- of the transcript entry: 16 bytes, or text where it is no UUID
    block INTEGER NOT NULL,       -- position in the entry's content
    kind INTEGER,
    at INTEGER NOT NULL,
    tool TEXT,
    tool_use_id TEXT,
    is_error INTEGER,
    body,                         -- text, or a zlib stream of its UTF-8
    UNIQUE (uuid, block)
);
CREATE INDEX step_by_turn ON step (turn);
CREATE TABLE step_copy (          -- steps that stand in the transcript of another session too (forks)
    session INTEGER NOT NULL REFERENCES session,
    step INTEGER NOT NULL REFERENCES step,
    PRIMARY KEY (session, step)
) WITHOUT ROWID;
CREATE TABLE unnoted (            -- steps that nothing was derived from yet
    session INTEGER NOT NULL REFERENCES session,
    step INTEGER NOT NULL REFERENCES step,
    PRIMARY KEY (session, step)
) WITHOUT ROWID;
CREATE TABLE pruned (             -- steps that keep their row without content, so that no transcript brings them back
    step INTEGER PRIMARY KEY REFERENCES step
);
CREATE VIRTUAL TABLE step_words USING fts5 (text, content='', detail=none, tokenize='porter unicode61');
CREATE TABLE unindexed (          -- steps whose texts the full-text index does not hold yet
    step INTEGER PRIMARY KEY REFERENCES step
);
CREATE TABLE compaction (         -- K2
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES session,
    trigger TEXT,
    started_at INTEGER NOT NULL,
    boundary_uuid TEXT UNIQUE,
    boundary_at INTEGER,
    pre_tokens INTEGER,
    summary,                      -- packed like a body
    kept_at INTEGER
);
CREATE INDEX compaction_by_session ON compaction (session);
CREATE TABLE restore (            -- every text that we gave a session back
    nonce TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session,
    compaction INTEGER REFERENCES compaction,
    part TEXT NOT NULL,
    at INTEGER NOT NULL,
    delivered_at INTEGER,         -- when its nonce was found in the transcript
    body
);
CREATE INDEX restore_by_session ON restore (session);
CREATE TABLE survival (           -- what of the state each compaction's summary kept
    compaction INTEGER PRIMARY KEY REFERENCES compaction,
    judged TEXT NOT NULL,         -- JSON: each item's ref, verdict and place in the summary
    restored TEXT,                -- JSON: the refs that were told again
    tokens INTEGER,               -- of the text that told them, estimated
    told_at INTEGER               -- when the user was told, once
);
CREATE TABLE continuation (       -- where the prompts of a session go on, and when the first one did there
    session INTEGER NOT NULL REFERENCES session,
    parent NOT NULL,              -- the entry before, stored as in step; empty at the beginning
    at INTEGER NOT NULL,
    PRIMARY KEY (session, parent)
) WITHOUT ROWID;
CREATE TABLE rewind (             -- what a session said between these times was taken back
    session INTEGER NOT NULL REFERENCES session,
    until_at INTEGER NOT NULL,    -- of the prompt with which the conversation went on
    after_at INTEGER NOT NULL,
    PRIMARY KEY (session, until_at)
) WITHOUT ROWID;
CREATE TABLE access (             -- steps that were asked for: how much that weighs, as a logarithm
    step INTEGER PRIMARY KEY REFERENCES step,
    level REAL NOT NULL
);
CREATE TABLE context (            -- how full each session's context window is
    session INTEGER PRIMARY KEY REFERENCES session,
    tokens INTEGER NOT NULL,      -- in it at the end of the last turn
    reached TEXT NOT NULL,        -- the highest phase of this cycle
    cycle INTEGER NOT NULL,       -- the newest compaction then; 0: none
    line TEXT                     -- what the next prompt is told, once
);
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
CREATE TABLE vector_model (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (name, version)
);
CREATE TABLE vector (
    id INTEGER PRIMARY KEY,       -- in the order in which they came: what is derived reads on from the last one
    step INTEGER NOT NULL REFERENCES step,
    model INTEGER NOT NULL REFERENCES vector_model,
    embedding BLOB NOT NULL,      -- of unit length, float16, little-endian
    UNIQUE (step, model)
);
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

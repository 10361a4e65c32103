"""The tables and columns that migrations 3 to 6 add to the archive, by subject."""

from __future__ import annotations

# The source of an item: its quote (packed like a body) and the SHA-256 of it; the rule that captured it (NULL for a
# recorded one) and the key of the captured event, so that it is captured once; the compaction whose summary named it;
# the versions of its files when it was recorded, as JSON.
SOURCES = """
ALTER TABLE item ADD COLUMN quote;
ALTER TABLE item ADD COLUMN quote_hash TEXT;
ALTER TABLE item ADD COLUMN rule TEXT;
ALTER TABLE item ADD COLUMN capture_key TEXT;
ALTER TABLE item ADD COLUMN compaction INTEGER;
ALTER TABLE item ADD COLUMN file_hashes TEXT;
CREATE UNIQUE INDEX item_by_capture ON item (capture_key);
CREATE TABLE unnoted (            -- steps that the working set has still to take in
    session INTEGER NOT NULL REFERENCES session,
    step INTEGER NOT NULL REFERENCES step,
    PRIMARY KEY (session, step)
) WITHOUT ROWID;
"""

SURVIVAL = """
CREATE TABLE survival (           -- what of the state each compaction's summary kept
    compaction INTEGER PRIMARY KEY REFERENCES compaction,
    judged TEXT NOT NULL,         -- JSON: each item's ref, verdict and place in the summary; the working set in numbers
    restored TEXT,                -- JSON: the refs that were told again
    tokens INTEGER,               -- of the text that told them, estimated
    told_at INTEGER               -- when the user was told, once
);
-- A next step that was read from the summary of a compaction: it is done with when the next summary names others.
ALTER TABLE note ADD COLUMN compaction INTEGER;
"""

PROVENANCE = """
CREATE INDEX item_without_source ON item (session_id, created_at) WHERE source_uuid IS NULL;
CREATE INDEX item_link_to ON item_link (to_uuid);
CREATE TABLE continuation (       -- where the prompts of a session go on, and when the first one did there
    session INTEGER NOT NULL REFERENCES session,
    parent NOT NULL,              -- the entry before, stored as in step; empty at the beginning
    at INTEGER NOT NULL,
    PRIMARY KEY (session, parent)
) WITHOUT ROWID;
CREATE TABLE rewind (             -- what a session said between these times was taken back
    session INTEGER NOT NULL REFERENCES session,
    after_at INTEGER NOT NULL,
    until_at INTEGER NOT NULL,    -- of the prompt with which the conversation went on
    PRIMARY KEY (session, until_at)
) WITHOUT ROWID;
"""

CAPTURE = """
CREATE INDEX item_by_status ON item (status);
CREATE INDEX item_searched ON item (kind) WHERE (kind != 'evidence' OR rule IS NULL);
CREATE INDEX item_in_file ON item (status) WHERE paged_out_at IS NULL;
CREATE INDEX item_by_rule ON item (rule, session_id) WHERE rule IS NOT NULL;
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
-- A note that is an entry of the agent's list of what is to be done: its key there, and its state.
ALTER TABLE note ADD COLUMN key TEXT;
ALTER TABLE note ADD COLUMN state TEXT;
"""


# Every change of a constraint deletes the stamp. The process that compiles the table sets a new one, which the table
# has too. An empty stamp means that no table exists and none is needed.
ENFORCEMENT = """
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
"""


CONTEXT = """
CREATE TABLE context (            -- how full each session's context window is
    session INTEGER PRIMARY KEY REFERENCES session,
    window INTEGER NOT NULL,
    compacts_at INTEGER NOT NULL, -- tokens
    known_from TEXT NOT NULL,     -- how that is known: client, compactions, default
    phase TEXT NOT NULL,
    reached TEXT NOT NULL,        -- the highest phase of this cycle
    cycle INTEGER NOT NULL,       -- the newest compaction then; 0: none
    stale INTEGER NOT NULL,       -- items whose files are gone
    line TEXT                     -- what the next prompt is told, once
);
CREATE TABLE context_point (      -- the last 50 points of each session's history
    session INTEGER NOT NULL REFERENCES session,
    at INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (session, turn)
) WITHOUT ROWID;
"""


NEWS = """
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
-- The newest that a session knows. NULL: it is older than this table, and counts from its next start on.
ALTER TABLE session ADD COLUMN news INTEGER;
"""


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

# The index of newer steps: which words a step has, not where and how often.
WORDS_ONCE = """
CREATE VIRTUAL TABLE step_words USING fts5 (text, content='', detail=none, tokenize='porter unicode61');
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


BLOCKS = """
CREATE TABLE text_block (         -- texts of consecutive steps in one zlib stream; their bodies are numbers
    id INTEGER PRIMARY KEY,       -- of its first step
    last INTEGER NOT NULL,        -- step
    body NOT NULL
);
CREATE TABLE ungrouped (          -- steps whose texts may be in no block
    first INTEGER PRIMARY KEY,
    last INTEGER                  -- NULL: all that follow
);
"""

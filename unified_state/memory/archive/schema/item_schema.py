"""Migrations of the archive: items, constraints, context windows, news."""

from __future__ import annotations

SOURCES = """
-- Where an item comes from: the words it was taken from as archived (packed like a body) and their SHA-256; the rule
-- that captured it (NULL where somebody recorded it) and what was captured, so that it is captured once; the compaction
-- from whose summary it was read; the versions of its files when it was recorded, as JSON.
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


# A constraint that comes, goes or changes, by whatever way, takes the stamp away; who compiles the table anew sets one,
# which stands in the table too. Empty: there is no table, and none is needed.
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

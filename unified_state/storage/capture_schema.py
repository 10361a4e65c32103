"""What capture adds to the tables of the archive, as a part of its third step."""

from __future__ import annotations

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

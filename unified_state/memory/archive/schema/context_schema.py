"""What the context autopilot adds to the tables of the archive, as a part of its third step."""

from __future__ import annotations

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

"""What lean context adds to the tables of the archive."""

from __future__ import annotations

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

"""The tables that tell what a server does not have yet, as a part of the fifth migration."""

from __future__ import annotations

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

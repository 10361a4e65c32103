"""The tables of the archive itself, and of what transcripts and the client tell, with what is derived from that."""

from __future__ import annotations

# The index has which words a step has, not where and how often: it is a third of the size.
HISTORY_TABLES = """
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
"""

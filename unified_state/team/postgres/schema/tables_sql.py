"""The tables of history. Every key begins with the project, and with the author who sent what it names: no conflict
ever tells of what another one has. Numbers are given under the lock of the project's row, and only grow.
"""

from __future__ import annotations

HISTORY = """
CREATE TABLE unified_state.session (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    session_id text NOT NULL,
    record text NOT NULL,                  -- all fields, as JSON
    PRIMARY KEY (project, author, session_id)
);

CREATE TABLE unified_state.step (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    session bigint NOT NULL,               -- the number of the one that had it first
    uuid bytea NOT NULL,
    block bigint NOT NULL,
    kind text NOT NULL,
    at bigint NOT NULL,
    tool text,
    tool_use_id text,
    is_error boolean NOT NULL,
    agent text,
    starts_turn boolean NOT NULL,
    body bytea NOT NULL,  -- compressed already
    unknown text,
    PRIMARY KEY (project, author, uuid, block)
) PARTITION BY HASH (project);
CREATE INDEX step_by_number ON unified_state.step (project, number);
CREATE INDEX step_by_session ON unified_state.step (project, session, number);

CREATE TABLE unified_state.step_copy (     -- the other sessions that hold a step: forks
    project bigint NOT NULL,
    author integer NOT NULL,
    session bigint NOT NULL,
    number bigint NOT NULL,
    step bigint NOT NULL,
    PRIMARY KEY (project, session, step)
) PARTITION BY HASH (project);
CREATE INDEX step_copy_by_step ON unified_state.step_copy (project, step);

CREATE TABLE unified_state.step_words (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (project, number)
) PARTITION BY HASH (project);
-- A search reads all words that are not sorted in yet: 4 MB of them, as many as there are else, take 30 ms.
CREATE INDEX step_words_of ON unified_state.step_words USING gin (words) WITH (gin_pending_list_limit = 512);

CREATE TABLE unified_state.item (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    uuid text NOT NULL,
    alias text NOT NULL,
    changed_at text NOT NULL,
    record text NOT NULL,
    PRIMARY KEY (project, author, uuid)
);
CREATE UNIQUE INDEX item_by_alias ON unified_state.item (project, author, alias);

CREATE TABLE unified_state.item_alias (    -- names that items have or had
    project bigint NOT NULL,
    author integer NOT NULL,
    alias text NOT NULL,
    uuid text NOT NULL,
    PRIMARY KEY (project, author, alias, uuid)
);

CREATE TABLE unified_state.link (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    from_uuid text NOT NULL,
    to_uuid text NOT NULL,
    relation text NOT NULL,
    at text NOT NULL,
    PRIMARY KEY (project, author, from_uuid, to_uuid, relation)
);

CREATE TABLE unified_state.compaction (
    project bigint NOT NULL,
    author integer NOT NULL,
    number bigint NOT NULL,
    boundary text NOT NULL,
    at bigint NOT NULL,
    session_id text NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (project, author, boundary)
);

CREATE TABLE unified_state.tombstone (
    project bigint NOT NULL,
    author integer NOT NULL,
    what text NOT NULL,
    key text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (project, author, what, key)
);

CREATE TABLE unified_state.volume (        -- how much an author has, about: what is expected of a search follows
    project bigint NOT NULL,
    author integer NOT NULL,
    steps bigint NOT NULL,
    sampled bigint NOT NULL DEFAULT 0,     -- how many there were when the words were counted
    PRIMARY KEY (project, author)
);

CREATE TABLE unified_state.common_word (   -- words of more than a five-hundredth of an author's steps
    project bigint NOT NULL,
    author integer NOT NULL,
    word text NOT NULL,
    share real NOT NULL,
    PRIMARY KEY (project, author, word)
);
"""
MASKING = "ALTER TABLE unified_state.step ADD COLUMN masked_at bigint;\n"  # when secrets were masked that it had held
# How far each archive is that is replicated here. A server that was restored from a backup has a smaller number than
# the archive remembers, and is told everything again.
REPLICAS = """
CREATE TABLE unified_state.replica (
    project bigint NOT NULL,
    author integer NOT NULL,
    archive text NOT NULL,
    mark bigint NOT NULL,
    PRIMARY KEY (project, author, archive)
);
"""
PARTITIONED_TABLES = ("step", "step_copy", "step_words")
HISTORY_TABLES = (
    *PARTITIONED_TABLES,
    "session",
    "item",
    "item_alias",
    "link",
    "compaction",
    "tombstone",
    "volume",
    "common_word",
)

"""The tables of the archive, as numbered migrations. A released one is never edited; `user_version` counts them."""

from __future__ import annotations

from unified_state.errors import DamagedArchiveError, NewerArchiveError
from unified_state.memory.archive.schema.added_tables import (
    BLOCKS,
    CAPTURE,
    CONTEXT,
    ENFORCEMENT,
    LEAN,
    NEWS,
    OUTBOX,
    PROVENANCE,
    PRUNED,
    SOURCES,
    SURVIVAL,
    TIERS,
    UNINDEXED,
    VECTORS,
    WORDS_ONCE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.lib.stdlib import Connection

APPLICATION_ID = 0x75737461  # "usta", by which `file` and people recognize the database

_FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
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
    work TEXT                     -- work item and where its git stood, as JSON
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
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session,
    agent TEXT,
    at INTEGER NOT NULL
);
CREATE INDEX turn_by_session ON turn (session);
CREATE TABLE step (               -- S1234; a forgotten one keeps its row, without kind and content
    id INTEGER PRIMARY KEY,
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
CREATE VIRTUAL TABLE step_text USING fts5 (text, content='', tokenize='porter unicode61');
CREATE TABLE compaction (         -- K2
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session,
    trigger TEXT,
    started_at INTEGER NOT NULL,
    boundary_uuid TEXT UNIQUE,
    boundary_at INTEGER,
    pre_tokens INTEGER,
    last_step INTEGER,            -- the newest step of the archive when it began
    summary,                      -- packed like a body
    summary_from TEXT             -- subagent_stop, post_compact or transcript
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
    estimate INTEGER,             -- tokens in the state file
    paged_out_at TEXT             -- when it left the state file; NULL while it is there
);
CREATE INDEX item_by_kind ON item (kind, status);
CREATE TABLE item_alias (         -- earlier names of items that were renamed in a merge
    alias TEXT PRIMARY KEY,
    uuid TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE item_link (
    from_uuid TEXT NOT NULL,
    to_uuid TEXT NOT NULL,
    relation TEXT NOT NULL,       -- supersedes, duplicates, contradicts
    at TEXT NOT NULL,
    PRIMARY KEY (from_uuid, to_uuid, relation)
) WITHOUT ROWID;
CREATE TABLE note (               -- highlights and pending actions, all that were ever given
    id INTEGER PRIMARY KEY,
    session INTEGER REFERENCES session,  -- NULL: adopted from a state file
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL,
    done_at TEXT                  -- when it was replaced by a newer list
);
CREATE INDEX note_by_session ON note (session, kind);
CREATE TABLE saved (              -- the last save of each worktree: when, why, and its git state as JSON
    state_path TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    trigger TEXT NOT NULL,
    git TEXT NOT NULL
) WITHOUT ROWID;
"""

_WORKING_SET = """
CREATE TABLE working_set (        -- what each session worked with
    session INTEGER NOT NULL REFERENCES session,
    kind TEXT NOT NULL,           -- file, command, program, reference, error
    name TEXT NOT NULL,           -- of identifiers outside of files: empty
    level REAL NOT NULL,          -- how much it weighs, as a logarithm
    data NOT NULL,                -- levels of its identifiers and details as JSON, packed like a body
    PRIMARY KEY (session, kind, name)
) WITHOUT ROWID;
CREATE INDEX working_set_by_level ON working_set (session, kind, level);
CREATE TABLE access (             -- steps that were asked for: how much that weighs, as a logarithm
    step INTEGER PRIMARY KEY REFERENCES step,
    level REAL NOT NULL
);
ALTER TABLE compaction ADD COLUMN kept_at INTEGER;
ALTER TABLE session ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN root TEXT;
"""

MIGRATIONS = (
    _FIRST,
    _WORKING_SET,
    SOURCES + CAPTURE + SURVIVAL + PROVENANCE + CONTEXT,
    NEWS + ENFORCEMENT + LEAN,
    PRUNED + TIERS + OUTBOX + VECTORS + UNINDEXED,
    WORDS_ONCE + BLOCKS,
)
_ABSURD_VERSION = 1000


def migrate(connection: Connection, path: str, to_version: int | None = None) -> None:
    """Migrate the tables to a version, by default the current one, in one transaction.

    Raises DamagedArchiveError and NewerArchiveError. Of several processes at once, one does it.
    """
    version = _version(connection)
    last = to_version or len(MIGRATIONS)
    if version == last:
        return
    if not 0 <= version < _ABSURD_VERSION:
        message = f"the archive {path} is damaged: its version is {version}"
        raise DamagedArchiveError(message, "it is set aside and begun anew")
    if version > len(MIGRATIONS):
        message = f"the archive {path} has version {version}; this unified-state knows up to {len(MIGRATIONS)}"
        from unified_state.lib.package import upgrade_line  # rarely needed

        raise NewerArchiveError(message, f"upgrade unified-state: {upgrade_line()}")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        for number, step in enumerate(MIGRATIONS[_version(connection) : last], _version(connection) + 1):
            create_tables(connection, (step,))
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def create_tables(connection: Connection, migrations: tuple[str, ...]) -> None:
    """Run the statements of some migrations."""
    for step in migrations:
        for statement in step.split(";\n"):
            if statement.strip():
                connection.execute(statement)


def _version(connection: Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version

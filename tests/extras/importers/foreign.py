"""The files of other programs, as those programs wrote them: schema and rows were taken from real runs."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

DATA = Path(__file__).parents[2] / "data" / "foreign"
STATES = Path(__file__).parents[2] / "data" / "golden"
FLOW, MEM = "claude-flow-3.43.0", "claude-mem-13.25.3"
FLOW_JSON = DATA / f"{FLOW}.json"
PROJECT = "project"  # that claude-mem's rows are of

# claude-mem before its migration 17, when a session had other names.
OLD_MEM = """
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, claude_session_id TEXT UNIQUE NOT NULL, sdk_session_id TEXT UNIQUE,
  project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL,
  completed_at TEXT, completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active'
);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT NOT NULL,
  type TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
);
INSERT INTO sdk_sessions (claude_session_id, sdk_session_id, project, started_at, started_at_epoch)
VALUES ('c-1', 'm-1', 'project', '2025-09-01T00:00:00Z', 1756684800000);
INSERT INTO observations (sdk_session_id, project, text, type, created_at, created_at_epoch)
VALUES ('m-1', 'project', 'The parser is in src/parse.ts', 'discovery', '2025-09-01T00:00:01Z', 1756684801000);
"""


def database(folder: Path, name: str) -> Path:
    """A database of one of the programs."""
    return database_of(folder, (DATA / f"{name}.sql").read_text(encoding="utf-8"))


def database_of(folder: Path, script: str) -> Path:
    """A database that a script makes."""
    path = folder / "foreign.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def made(folder: Path, name: str, repository: Path) -> Path:
    """A copy of the files of a program, which worked in that repository."""
    copy = folder / name
    shutil.copytree(DATA / name, copy)
    for path in files_in(copy):
        path.write_bytes(path.read_bytes().replace(b"@REPOSITORY@", str(repository).encode()))
    return copy


def files_in(folder: Path) -> list[Path]:
    """All files of a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())

"""What earlier versions left behind: `tests/data/earlier_versions`, each made by that version's own code."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
import tarfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.tools.make_earlier_versions import COMMITS, FOLDER, FORGOTTEN, OLD_SESSION, ROOT, SESSION, WORLD
from unified_state.agents.install.hook_launcher import write_launcher
from unified_state.memory.repository.place import digest_path_of

from .product import Done, Project

__all__ = ["FORGOTTEN", "OLD_SESSION", "SESSION", "VERSIONS", "LeftBehind", "put_back"]

VERSIONS = tuple(COMMITS)  # of the archive
_STATE = Path(".claude", "unified-session-state.json")


class LeftBehind(NamedTuple):
    """A project as an earlier version left it, and what that version listed of it."""

    project: Project
    transcripts: Path
    expected: dict[str, Any]

    def hooks(self, event: str, **fields: object) -> list[Done]:
        """Call the event's hooks as the settings of the earlier version say."""
        project = self.project
        given = {"session_id": SESSION, "transcript_path": str(self.transcripts / f"{SESSION}.jsonl"), **fields}
        text = (project.folder / ".claude" / "settings.local.json").read_text(encoding="utf-8")
        handlers = [handler for group in json.loads(text)["hooks"].get(event, []) for handler in group["hooks"]]
        return [
            project.execute([handler["command"], *handler["args"]], project.event(event, **given), {})
            for handler in handlers
        ]


def put_back(version: int, repository: Path, home: Path) -> LeftBehind:
    """Put what a version left behind into a repository and a home, which lie elsewhere than they did then."""
    transcripts = home.parent / "transcripts"
    places = {
        str(WORLD / "shop"): str(repository),
        str(WORLD / "home"): str(home),
        str(WORLD / "transcripts"): str(transcripts),
        "{python}": sys.executable,
        "{root}": str(ROOT),
        "{programs}": os.path.dirname(sys.executable),
    }
    expected = {}
    for name, content in _files(FOLDER / f"archive-{version}.tar.xz"):
        text = content
        if not name.endswith((".db", ".key", ".jsonl", _STATE.name, "expected.json")):
            for then, now in places.items():
                text = text.replace(then.encode(), now.encode())
        if name == "expected.json":
            expected = json.loads(text)
            continue
        first, _, rest = name.partition("/")
        path = {"shop": repository, "home": home, "transcripts": transcripts}[first] / rest
        if path.suffix == ".sha256":  # its name is a digest of the state file's path
            path = Path(digest_path_of(str(path.parent), str(repository / _STATE)))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
    write_launcher()  # as `install` did
    project = Project(repository, home)
    with closing(sqlite3.connect(project.archive)) as archive, archive:
        for table, column in (("session", "worktree"), ("saved", "state_path"), ("transcript", "path")):
            for then, now in places.items():
                archive.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (then, now))
        # It was used today: the state file leaves out a session that nobody used for `session_hours`.
        (last,) = archive.execute("SELECT max(seen_at) FROM session").fetchone()
        archive.execute("UPDATE session SET seen_at = seen_at + ?", (time.time_ns() // 1_000_000 - last,))
    return LeftBehind(project, transcripts, expected)


def _files(path: Path) -> list[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as tar:
        return [(entry.name, file.read()) for entry in tar if (file := tar.extractfile(entry)) is not None]

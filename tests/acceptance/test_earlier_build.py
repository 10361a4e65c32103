"""What a build before 0.1.0 left behind: its archive is refused untouched, and what it exported is imported."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from .product import Project, told_in_one_line
from .transcripts import Transcript

EXPORTED = Path(__file__).parents[1] / "data" / "history_before_0.1.0.jsonl"  # by `export --full` of such a build


def test_its_archive_is_refused_untouched_and_the_message_names_export_and_import(
    project: Project, tmp_path: Path
) -> None:
    project.decide("Use SQLite")
    with closing(sqlite3.connect(project.archive)) as archive:
        archive.execute("PRAGMA user_version = 6")
    before = project.archive.read_bytes()
    for command in (["status"], ["search", "SQLite"], ["decision", "list"], ["export"]):
        done = project.run(*command)
        assert told_in_one_line(done), done
        assert "export --full FILE" in done.err
        assert "import FILE" in done.err
    written = Transcript("s")
    written.turn(1)
    path = written.write(tmp_path / "s.jsonl")
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"):
        assert project.hook(event, transcript_path=str(path)).code == 0
    assert project.archive.read_bytes() == before


def test_its_export_is_imported(project: Project) -> None:
    assert project.run("import", str(EXPORTED)).code == 0
    decisions = [item["decision"] for item in project.ask("decision", "list", "--all")]
    assert decisions == ["Keep limits in Redis", "Keep limits in SQLite"]
    assert project.ask("search", "flux capacitor")

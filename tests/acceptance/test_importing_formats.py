"""Memories, issues and sessions of other programs are found by `search` after an import, once, and bind nobody."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.extras.importers.foreign import DATA, files_in, made

from .product import Project, restored
from .secrets import planted

PROGRAMS = sorted(path.name for path in DATA.iterdir() if path.is_dir())


def imported(project: Project, *paths: Path) -> list[dict[str, Any]]:
    """What an import did, that has to go well."""
    found: list[dict[str, Any]] = project.ask("import", *map(str, paths))
    return found


def question(project: Project, text: str) -> dict[str, Any]:
    """The question with that text."""
    found = map(json.loads, project.run("export", "--items").out.splitlines())
    (item,) = [item for item in found if item["body"].get("question") == text]
    return dict(item)


def test_what_all_programs_kept_is_imported_once_binds_nobody_and_no_file_of_theirs_is_changed(
    project: Project, tmp_path: Path
) -> None:
    folders = [made(tmp_path, name, project.folder) for name in PROGRAMS]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for folder in folders for path in files_in(folder)}
    first = imported(project, *folders)
    assert all(one["added"] for one in first if not one["path"].endswith("pages"))  # these repeat another export
    assert sum(one["proposed"] for one in first) == 13
    assert [one["added"] for one in imported(project, *folders)] == [0] * len(folders)
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for folder in folders for path in files_in(folder)
    } == before
    found = list(map(json.loads, project.run("export", "--items").out.splitlines()))
    assert {item["status"] for item in found} == {"proposed", "resolved"}
    assert {item["origin"] for item in found} == {"inferred"}
    assert "prompt" not in {step["kind"] for step in project.export()}
    assert "real database" not in json.dumps(restored(project, tmp_path / "s.jsonl", source="startup"))


def test_aiders_times_are_those_of_the_machines_zone(project: Project, tmp_path: Path) -> None:
    folder = made(tmp_path, "aider", project.folder)
    done = project.run("import", str(folder), TZ="Asia/Tokyo")
    assert done.code == 0, done
    assert "2026-11-16T05:43" in {hit["timestamp"][:16] for hit in project.ask("search", "hybrid clock with a test")}


def test_an_item_that_the_user_accepted_stays_as_it_is(project: Project, tmp_path: Path) -> None:
    folder = made(tmp_path, "beads", project.folder)
    imported(project, folder)
    ref = question(project, "Write the hybrid clock")["ref"]
    assert project.at_terminal("inbox", "accept", ref).code == 0
    path = folder / "issues.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"in_progress"', '"closed"'), encoding="utf-8")
    imported(project, folder)
    assert question(project, "Write the hybrid clock")["status"] == "active"


@pytest.mark.parametrize("name", sorted(PROGRAMS)[::3])
def test_no_secret_of_it_is_kept(project: Project, tmp_path: Path, name: str) -> None:
    folder = made(tmp_path, name, project.folder)
    secret = next(text for text in sorted(planted()) if text.startswith("ghp_"))
    words = ("tombstone", "Tombstone", "watermark", "HybridClock", "hybrid clock", "database", "index", "column")
    for path in files_in(folder):
        text = path.read_text(encoding="utf-8")
        for word in words:
            text = text.replace(word, f"{word} {secret}")
        path.write_text(text, encoding="utf-8")
    (done,) = imported(project, folder)
    assert done["added"]
    kept = b"".join(path.read_bytes() for path in project.data.rglob("*") if path.is_file())
    assert secret.encode() not in kept
    assert secret not in json.dumps(project.export())
    assert secret not in project.run("export", "--items").out


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ({"display": "go on", "pastedContents": {}, "timestamp": 1, "project": "/p"}, "Claude Code's list of prompts"),
        ({"session_id": "s", "ts": 1, "text": "go on"}, "Codex's list of prompts"),
        ([{"name": "chat", "chat_messages": []}], "an export of claude.ai"),
        (None, "opencode's database"),
    ],
)
def test_lists_of_prompts_and_exports_are_refused_by_name(
    project: Project, tmp_path: Path, text: object, name: str
) -> None:
    path = tmp_path / "history.jsonl"
    if text is None:
        with closing(sqlite3.connect(path)) as database:
            database.executescript("CREATE TABLE session (id TEXT); CREATE TABLE part (id TEXT)")
    else:
        path.write_text(json.dumps(text) + "\n", encoding="utf-8")
    done = project.run("import", str(path))
    assert (done.code, f"is {name}, which is not imported; " in done.err) == (1, True), done.err

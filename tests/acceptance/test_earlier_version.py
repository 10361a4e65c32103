"""What each earlier version left behind is found by this one: archive, state file, hooks, a history file.

Each version of the archive's schema was made by its own code, in a repository that lies elsewhere here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from unified_state.memory.archive.archive import ARCHIVE_VERSION

from .left_behind import FORGOTTEN, SESSION, VERSIONS, LeftBehind, put_back
from .product import Project, all_bytes, archive_is_whole
from .reading import kept

DENIES = 4  # the first version that did
HAS_HISTORY = 5  # likewise


@pytest.fixture(params=VERSIONS)
def left(request: pytest.FixtureRequest, repository: Path, home: Path) -> LeftBehind:
    """What one of the versions left behind."""
    return put_back(request.param, repository, home)


def version_of(path: Path) -> int:
    """The version of an archive."""
    with closing(sqlite3.connect(path)) as archive:
        return int(archive.execute("PRAGMA user_version").fetchone()[0])


def test_there_is_an_archive_of_every_version() -> None:
    assert tuple(range(1, ARCHIVE_VERSION + 1)) == VERSIONS


def test_all_that_an_earlier_version_listed_is_found_and_nothing_else(left: LeftBehind) -> None:
    project, expected = left.project, left.expected
    for kind, items in expected["items"].items():
        found = project.ask(kind, "list", "--all")
        assert [_same_fields(now, then) for now, then in zip(found, items, strict=True)] == items
    steps = project.export()
    assert kept(steps) == kept(expected["steps"])
    assert [step["ref"] for step in steps] == [step["ref"] for step in expected["steps"]]
    assert project.ask("show", "K1")["summary"] == expected["compaction"]["summary"]
    assert project.ask("show", "D1")["superseded_by"] == "D2"
    assert "1.21 gigawatts" in project.run("search", "flux", "capacitor").out
    assert project.run("show", "D3").code == 1  # forgotten
    assert version_of(project.archive) == ARCHIVE_VERSION
    assert archive_is_whole(project.archive)
    assert project.ask("validate") == {"valid": True, "findings": []}


def test_an_earlier_version_s_state_file_goes_on(left: LeftBehind) -> None:
    project, then = left.project, left.expected["state"]
    state = project.ask("load")
    for name in ("decisions", "constraints", "openQuestions", "evidenceLedger"):
        assert [_same_fields(now, old) for now, old in zip(state[name], then[name], strict=True)] == then[name]
    assert state["summaries"]["contextHighlights"] == ["the limiter works"]
    assert state["summaries"]["pendingActions"] == ["write its docs"]
    assert project.decide("Use port 8081") == "D4"
    assert [entry["id"] for entry in project.state()["decisions"]] == ["D1", "D2", "D4"]


def test_an_earlier_version_s_hooks_restore_archive_on_and_deny(left: LeftBehind) -> None:
    project = left.project
    path = left.transcripts / f"{SESSION}.jsonl"
    told = "".join(done.out for done in left.hooks("SessionStart", source="compact"))
    assert "Keep limits in SQLite" in told
    assert "Never push by force" in told
    assert "limiter.py" in told
    assert "The rate limit is in place" in told
    entry = path.read_text(encoding="utf-8").splitlines()[-1]
    with path.open("a", encoding="utf-8") as file:
        file.write(_answer(entry, "The hoverboard flies."))
    for event in ("UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"):
        assert [done.code for done in left.hooks(event, trigger="auto", reason="other")] == [0]
    steps = project.export()
    assert kept(steps) == kept([*left.expected["steps"], steps[-1]])
    assert steps[-1]["text"] == "The hoverboard flies."
    assert FORGOTTEN.encode() not in all_bytes([project.data, project.folder / ".claude"])
    calls = [
        left.hooks("PreToolUse", tool_name="Bash", tool_input={"command": f"git push {way}"}) for way in ("-f", "")
    ]
    answers = ["".join(done.out for done in call) for call in calls]
    assert ["deny" in answer for answer in answers] == ["PreToolUse" in _settings(project)["hooks"], False]
    assert project.log() == ""


def test_install_and_uninstall_know_an_earlier_version_s_hooks(left: LeftBehind) -> None:
    assert left.project.run("install").code == 0
    checks = json.loads(left.project.run("doctor", "--json").out)
    assert [check for check in checks if not check["ok"]] == []
    assert {len(groups) for groups in _settings(left.project)["hooks"].values()} == {1}
    assert all(done.code == 0 for done in left.hooks("SessionStart", source="compact"))
    assert left.project.at_terminal("uninstall").code == 0
    path = left.project.folder / ".claude" / "settings.local.json"
    assert "unified_state" not in (path.read_text(encoding="utf-8") if path.exists() else "")


def test_what_an_earlier_version_forgot_is_not_archived_again(left: LeftBehind) -> None:
    for path in left.transcripts.glob("*-*.jsonl"):
        assert left.project.run("import", str(path)).code == 0
    assert FORGOTTEN.encode() not in all_bytes([left.project.data])
    assert kept(left.project.export()) == kept(left.expected["steps"])


def test_an_earlier_version_s_history_file_is_imported(
    project: Project, repository: Path, home: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    left = put_back(HAS_HISTORY, repository, home)
    other = Project(tmp_path / "other", home)
    git("init", "--quiet", str(other.folder), cwd=tmp_path)
    assert other.run("import", str(left.transcripts / "history.jsonl")).code == 0
    assert kept(other.export()) == kept(left.expected["steps"])
    assert [item["id"] for item in other.ask("decision", "list", "--all")] == ["D1", "D2"]


def _same_fields(now: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """The fields that were there already."""
    return {name: now.get(name) for name in then}


def _settings(project: Project) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(
        (project.folder / ".claude" / "settings.local.json").read_text(encoding="utf-8")
    )
    return settings


def _answer(entry: str, text: str) -> str:
    fields = json.loads(entry)
    uuid = "ffffffff-ffff-4fff-8fff-ffffffffffff"
    message = {**fields["message"], "content": [{"type": "text", "text": text}]}
    return json.dumps({**fields, "parentUuid": fields["uuid"], "uuid": uuid, "message": message}) + "\n"

"""What lies beside a JSON history is read whatever its file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unified_state.storage.tiers.json_desk import Desk
from unified_state.storage.tiers.json_files import LineFiles

GOOD: dict[str, Any] = {
    "cursors": {"/t.jsonl": {"session_id": "s", "agent": None, "offset": 7, "inode": 3}},
    "pending": [["s", "prompt", "and now?", 5]],
    "work": {"s": {"work_item": {"id": "X-1"}, "seen_at": 5}},
    "notes": [{"session_id": None, "kind": "highlight", "text": "halfway", "at": "2026-01-01T00:00:00.000Z"}],
    "saved": {"/state.json": {"at": "2026-01-01T00:00:00.000Z", "trigger": "manual", "git": "{}"}},
    "summaries": {"s": "what it was about"},
}


def desk_with(folder: Path, content: bytes) -> Desk:
    (folder / "p").mkdir()
    (folder / "p" / "desk.json").write_bytes(content)
    return Desk(LineFiles(str(folder / "p")))


def test_what_is_whole_comes_back_and_what_a_newer_version_adds_too(tmp_path: Path) -> None:
    assert desk_with(tmp_path, json.dumps({**GOOD, "newer": [1]}).encode()).read() == {**GOOD, "newer": [1]}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\0\0", b'"x"', b"{}", b'{"cursors":[],"pending":{}}', b"\xff"])
def test_what_cannot_be_read_is_empty(tmp_path: Path, content: bytes) -> None:
    assert desk_with(tmp_path, content).read() == {
        "cursors": {},
        "pending": [],
        "work": {},
        "notes": [],
        "saved": {},
        "summaries": {},
    }


@pytest.mark.parametrize("bad", [None, 7, "x", [], {}, [1], {"session_id": 7, "kind": 7, "at": 7, "seen_at": "x"}])
def test_only_entries_of_another_form_are_left_out(tmp_path: Path, bad: object) -> None:
    spoilt = {name: [*part, bad] if isinstance(part, list) else {**part, "other": bad} for name, part in GOOD.items()}
    found = desk_with(tmp_path, json.dumps(spoilt).encode()).read()
    for part in ("work", "summaries"):  # anything of these is enough, or any text
        found[part].pop("other", None)
    assert found == GOOD


@pytest.mark.parametrize("field", [{"work_item": "x"}, {"pid": "x"}, {"worktree": 7}, {"branch": []}, {"commit": {}}])
def test_work_of_another_form_is_left_out(tmp_path: Path, field: dict[str, Any]) -> None:
    spoilt = {"work": {"s": GOOD["work"]["s"], "other": {"seen_at": 5, **field}}}
    assert desk_with(tmp_path, json.dumps(spoilt).encode()).read()["work"] == GOOD["work"]


def test_a_note_of_no_session_that_could_be_is_left_out(tmp_path: Path) -> None:
    spoilt = {"notes": [*GOOD["notes"], {**GOOD["notes"][0], "session_id": ["s"]}]}
    assert desk_with(tmp_path, json.dumps(spoilt).encode()).read()["notes"] == GOOD["notes"]

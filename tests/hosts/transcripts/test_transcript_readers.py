"""Transcripts of other hosts in the archive: each thing once, masked, however the file grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import find_compaction
from unified_state.archive.sessions import session_number
from unified_state.archive.steps import last_turns, steps_of_turn
from unified_state.capture.capture_transcript import Capture
from unified_state.capture.ingest import read_head
from unified_state.model.hook_event import Moment
from unified_state.secrets.masker import Masker

SECRET = "sk-ant-api03-" + "Ab3" * 30 + "AA"
SESSION = "codex:01a202bf-06f5-7ca0-9cca-9f082748a50e"


def codex_line(second: int, kind: str = "response_item", **payload: Any) -> bytes:
    line = {"timestamp": f"2026-11-22T10:13:{second:02}.000Z", "type": kind, "payload": payload}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def codex_message(second: int, role: str, text: str) -> bytes:
    return codex_line(second, type="message", role=role, content=[{"type": "text", "text": text}])


ROLLOUT = [
    codex_line(0, "session_meta", id=SESSION.partition(":")[2], cwd="/p"),
    codex_message(1, "user", "最初のプロンプト"),
    codex_line(2, type="function_call", name="exec_command", call_id="c1", arguments='{"cmd": "ls"}'),
    codex_line(3, type="function_call_output", call_id="c1", output=f"key {SECRET}\r\n"),
    codex_message(4, "assistant", "done"),
    codex_line(5, "compacted", message="Here is the summary:\nWhat was done."),
    codex_message(6, "user", "go on"),
]


def told(archive: Archive, session_id: str = SESSION) -> list[tuple[str, str]]:
    session = session_number(archive, session_id)
    assert session is not None
    turns = reversed(last_turns(archive, session, 10))
    return [(step.kind, step.text) for turn in turns for _, step in steps_of_turn(archive, turn)]


def capture(archive: Archive, masker: Masker, path: Path, session_id: str = SESSION) -> int:
    return Capture(archive, masker, Moment(NOW)).session(str(path), session_id)


def test_a_rollout_that_grows_line_by_line_is_archived_once(archive: Archive, masker: Masker, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    for number in range(len(ROLLOUT) + 1):
        torn = ROLLOUT[number][:20] if number < len(ROLLOUT) else b""
        path.write_bytes(b"".join(ROLLOUT[:number]) + torn)
        capture(archive, masker, path)
    kinds = [kind for kind, _ in told(archive)]
    assert kinds == ["prompt", "tool_call", "tool_result", "text", "prompt"]
    assert capture(archive, masker, path) == 0
    compaction = find_compaction(archive, 1)
    assert compaction is not None
    assert compaction.summary == "What was done."
    assert find_compaction(archive, 2) is None


def test_a_secret_in_a_rollout_is_masked(archive: Archive, masker: Masker, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(b"".join(ROLLOUT))
    capture(archive, masker, path)
    assert SECRET not in str(told(archive))


def test_a_fork_of_a_rollout_does_not_store_its_lines_again(archive: Archive, masker: Masker, tmp_path: Path) -> None:
    first, fork = tmp_path / "first.jsonl", tmp_path / "fork.jsonl"
    first.write_bytes(b"".join(ROLLOUT[:5]))
    fork.write_bytes(b"".join([*ROLLOUT[:5], codex_message(9, "user", "another way")]))
    capture(archive, masker, first)
    capture(archive, masker, fork, "codex:fork")
    (steps,) = archive.row("SELECT count(*) FROM step")
    assert steps == 5


def test_a_damaged_line_costs_that_line_only(archive: Archive, masker: Masker, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(ROLLOUT[1] + b'{"timestamp": "2026\n\xff\xfe\n[]\n' + ROLLOUT[4])
    capture(archive, masker, path)
    assert [kind for kind, _ in told(archive)] == ["prompt", "text"]


@pytest.mark.parametrize("session_id", ["other:s", "copilot:s", "nobody:s"])
def test_a_transcript_of_an_unknown_form_is_left_alone(
    archive: Archive, masker: Masker, tmp_path: Path, session_id: str
) -> None:
    path = tmp_path / "events.jsonl"
    entry = {"type": "user", "uuid": "1", "timestamp": "2026-01-01T00:00:00Z", "message": {"content": "x"}}
    path.write_text(json.dumps(entry) + "\n", encoding="utf-8")
    assert capture(archive, masker, path, session_id) == 0


def test_messages_that_are_handed_over_are_archived_once(archive: Archive, masker: Masker) -> None:
    parts = [{"id": "prt_1", "type": "text", "text": "fix it"}]
    message = {"info": {"id": "m1", "role": "user", "time": {"created": NOW}}, "parts": parts}
    capturing = Capture(archive, masker, Moment(NOW))
    assert capturing.messages([message, None, 7], "opencode:s") == 1
    assert capturing.messages([message], "opencode:s") == 0
    assert told(archive, "opencode:s") == [("prompt", "fix it")]


def test_the_host_of_a_named_transcript_is_read_from_it(tmp_path: Path) -> None:
    rollout, chat = tmp_path / "rollout-1.jsonl", tmp_path / "session-1.jsonl"
    rollout.write_bytes(b"".join(ROLLOUT))
    chat.write_text(json.dumps({"sessionId": "g1", "projectHash": "h", "kind": "main"}) + "\n", encoding="utf-8")
    assert (read_head(str(rollout)).session_id, read_head(str(rollout)).cwd) == (SESSION, "/p")
    assert read_head(str(chat)).session_id == "gemini:g1"

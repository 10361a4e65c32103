"""What the user took back is not told: neither its words, nor its work, nor its to-do list. The archive keeps it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import NOW, SESSION, Entry, answer, call, prompt, result, uuid_of
from tests.rollouts import Rollout
from unified_state.archive.archive import Archive
from unified_state.archive.session_work import pending_actions
from unified_state.archive.sessions import session_number
from unified_state.archive.steps import recent_steps, step_numbers
from unified_state.capture.capture_transcript import Capture
from unified_state.model.hook_event import Moment
from unified_state.model.step import NOTICE, PROMPT
from unified_state.project.workspace.workspace import Workspace
from unified_state.restore.compose_restore import gather, read_files
from unified_state.restore.work_in_short import work_in_short
from unified_state.search.search_archive import search
from unified_state.secrets.masker import Masker

Keep = Callable[..., None]

STANDS = (
    prompt(0, "Make the exporter."),
    answer(1, "I start.", call("t0", "TodoWrite", todos=[{"content": "write csv.py", "status": "pending"}])),
    result(2, "t0", "done"),
)
TAKEN_BACK = (
    prompt(3, "Switch to KIWI."),
    answer(
        4,
        call("t1", "Edit", file_path="kiwi.py", old_string="a", new_string="b"),
        call("t2", "TodoWrite", todos=[{"content": "write kiwi.py", "status": "pending"}]),
    ),
    result(5, "t1", "done"),
    result(6, "t2", "done"),
    answer(7, "KIWI is used."),
)
GOES_ON = (prompt(8, "Use CSV.", parentUuid=uuid_of(2)), answer(9, "CSV it is."))
WENT_BACK = {"type": "last-prompt", "lastPrompt": "Make the exporter.", "leafUuid": uuid_of(2), "sessionId": SESSION}


def told(archive: Archive, session: int = 1) -> list[str]:
    """The texts of the steps that a restore reads."""
    typed = recent_steps(archive, session, 100, (PROMPT, NOTICE), turns=100)
    steps = [*typed, *recent_steps(archive, session, 100)]
    return list(dict.fromkeys(step.text for _, step in steps if not step.text.startswith("{")))


def test_a_search_marks_what_was_taken_back(archive: Archive, keep: Keep) -> None:
    keep(*STANDS, *TAKEN_BACK, *GOES_ON)
    marks = {hit.snippet: hit.status for words in ("kiwi", "csv") for hit in search(archive, words, 10)}
    assert marks["Switch to **KIWI**."] == "taken back"
    assert marks["**CSV** it is."] is None


@pytest.mark.parametrize("parts", [[(*STANDS, *TAKEN_BACK, *GOES_ON)], [STANDS, TAKEN_BACK, GOES_ON]])
def test_what_was_taken_back_is_not_told(
    archive: Archive, keep: Keep, workspace: Workspace, parts: list[Entry]
) -> None:
    for part in parts:
        keep(*part)
    known = gather(archive, workspace.place, 1, "compact", NOW + 20_000)
    assert [found.text for found in known.prompts] == ["Make the exporter.", "Use CSV."]
    assert [said.text for said in known.recent.texts] == ["CSV it is.", "I start."]
    assert known.recent.edits == ()
    assert [turn.number for turn in known.turns] == [1, 3]
    assert [turn.at for turn in known.turns] == [found.at for found in known.prompts]
    assert known.working_set == ()
    assert known.pending_actions == ("[pending] write csv.py",)
    assert "KIWI" not in "".join(work_in_short(archive, 1))
    assert len(step_numbers(archive, 1)) == 12


def test_a_session_that_ended_there_is_told_without_it(archive: Archive, keep: Keep, workspace: Workspace) -> None:
    keep(*STANDS, *TAKEN_BACK, WENT_BACK)
    known = gather(archive, workspace.place, 1, "startup", NOW + 20_000)
    assert [found.text for found in known.prompts] == ["Make the exporter."]
    assert [said.text for said in known.recent.texts] == ["I start."]


def test_reading_it_again_changes_nothing(archive: Archive, keep: Keep) -> None:
    entries = (*STANDS, *TAKEN_BACK, WENT_BACK, *GOES_ON)
    for _ in range(2):
        keep(*entries)
        archive.run("UPDATE transcript SET offset = 0")
    assert told(archive) == ["Make the exporter.", "Use CSV.", "I start.", "done", "CSV it is."]


def test_a_part_that_the_user_returned_to_is_told_again(archive: Archive, keep: Keep) -> None:
    keep(*STANDS, *TAKEN_BACK, *GOES_ON, prompt(10, "KIWI after all.", parentUuid=uuid_of(7)))
    assert [step.text for _, step in recent_steps(archive, 1, 10, (PROMPT, NOTICE), turns=10)] == [
        "Make the exporter.",
        "Switch to KIWI.",
        "KIWI after all.",
    ]
    assert [file.path for file in read_files(archive, 1, "")] == ["kiwi.py"]
    assert pending_actions(archive, 1, 9) == ("[pending] write kiwi.py",)


def test_turns_that_codex_rolled_back_are_not_told(archive: Archive, masker: Masker, tmp_path: Path) -> None:
    rollout = Rollout(tmp_path / "rollout.jsonl", "0a1b", tmp_path)
    for text in ("Make the exporter.", "Switch to KIWI.", "KIWI everywhere."):
        rollout.says("user", text)
        rollout.says("assistant", f"Done: {text}")
    for _ in range(2):
        rollout.line("event_msg", type="thread_rolled_back", num_turns=1)
    rollout.says("user", "Use CSV.")
    for _ in range(2):
        Capture(archive, masker, Moment(NOW)).session(str(rollout.path), "codex:0a1b")
        archive.run("UPDATE transcript SET offset = 0")
    session = session_number(archive, "codex:0a1b") or 0
    assert told(archive, session) == ["Make the exporter.", "Use CSV.", "Done: Make the exporter."]


def test_messages_that_gemini_rewound_are_not_told(archive: Archive, masker: Masker, tmp_path: Path) -> None:
    def line(number: int, kind: str, content: str) -> Entry:
        return {"id": f"m{number}", "timestamp": f"2026-11-25T10:00:0{number}Z", "type": kind, "content": content}

    chat = [
        line(1, "user", "Store notes in files."),
        line(2, "gemini", "Files."),
        line(3, "user", "Never use files, switch to OCELOTDB."),
        line(4, "gemini", "OCELOTDB wired."),
        {"$rewindTo": "m3"},
        line(5, "user", "Add tests."),
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in chat), encoding="utf-8")
    Capture(archive, masker, Moment(NOW)).session(str(path), "gemini:m")
    session = session_number(archive, "gemini:m") or 0
    assert told(archive, session) == ["Store notes in files.", "Add tests.", "Files."]


def test_messages_that_opencode_reverted_are_not_told(archive: Archive, masker: Masker) -> None:
    def message(number: int, role: str, text: str) -> Entry:
        info = {"id": f"msg_{number}", "role": role, "time": {"created": NOW + number * 1000}}
        return {"info": info, "parts": [{"id": f"prt_{number}", "type": "text", "text": text}]}

    kept = [message(1, "user", "Store notes in files."), message(2, "assistant", "Files.")]
    reverted = [message(3, "user", "Use OCELOTDB."), message(4, "assistant", "OCELOTDB wired.")]
    capturing = Capture(archive, masker, Moment(NOW + 20_000))
    for messages in ([*kept, *reverted], kept, [*kept, message(5, "user", "Add tests.")]):
        capturing.messages(messages, "opencode:m")
    session = session_number(archive, "opencode:m") or 0
    assert told(archive, session) == ["Store notes in files.", "Add tests.", "Files."]

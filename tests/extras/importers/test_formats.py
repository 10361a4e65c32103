"""Memories, issues and sessions of other programs are read as those programs wrote them.

Whatever is in such a file, it is read, skipped and counted, or refused in one line; and it is never written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.amount import amount
from unified_state.errors import ForeignFileError
from unified_state.extras.importers.foreign_records import moment
from unified_state.lib.times import to_text
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredSession, StoredStep
from unified_state.model.item import MAIN_FIELDS
from unified_state.upkeep.exchange.foreign_files import Tally
from unified_state.upkeep.exchange.import_formats import TRANSCRIPT, Source, find_sources, open_records

from .foreign import files_in, made

FORMATS = {
    "claude-memory": "Claude Code memory",
    "codex-memories": "Codex memories",
    "beads": "beads",
    "mempalace": "MemPalace",
    "basic-memory": "basic-memory",
    "specstory": "SpecStory history",
    "aider": "aider history",
    "cline": "Cline or Roo session",
    "roo": "Cline or Roo session",
    "cline-4": "Cline or Roo session",
    "copilot-cli": "Copilot CLI session",
}
EVERY = amount(67, 7)  # bytes
NOTICE, TEXT, THINKING, CALL, RESULT = "notice", "text", "thinking", "tool_call", "tool_result"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The folder of this project."""
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def records(source: Source, repository: Path, tally: Tally | None = None) -> list[HistoryRecord]:
    """What a source holds."""
    return list(open_records(source, "notes", str(repository), tally or Tally()))


def of_folder(folder: Path, repository: Path, tally: Tally | None = None) -> list[HistoryRecord]:
    """What a folder of one program holds."""
    (source,) = find_sources(str(folder))
    return records(source, repository, tally)


def steps(found: Iterable[HistoryRecord]) -> list[StoredStep]:
    """The steps among some records."""
    return [record for record in found if isinstance(record, StoredStep)]


def items(found: Iterable[HistoryRecord]) -> dict[str, StoredItem]:
    """The items among some records by their main texts."""
    return {record.body[MAIN_FIELDS[record.kind]]: record for record in found if isinstance(record, StoredItem)}


def shown(found: Iterable[HistoryRecord]) -> list[tuple[str, str | None, str]]:
    """Kind, tool and text of the steps."""
    return [(step.kind, step.tool, step.text) for step in steps(found)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_is_recognised_by_what_its_files_hold(tmp_path: Path, repository: Path, name: str) -> None:
    (source,) = find_sources(str(made(tmp_path, name, repository)))
    assert source.format == FORMATS[name]


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_of_it_is_a_prompt_or_in_force_and_each_step_has_a_name_of_its_own(
    tmp_path: Path, repository: Path, name: str
) -> None:
    found = of_folder(made(tmp_path, name, repository), repository)
    assert steps(found)
    assert "prompt" not in {step.kind for step in steps(found)}
    assert {item.status for item in items(found).values()} <= {"proposed", "resolved"}
    assert {item.origin for item in items(found).values()} <= {"inferred"}
    names = [(step.uuid, step.block) for step in steps(found)]
    assert len(set(names)) == len(names)
    sessions = {record.session_id for record in found if isinstance(record, StoredSession)}
    assert {step.session_id for step in steps(found)} <= sessions


@pytest.mark.parametrize("name", FORMATS)
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path, repository: Path, name: str) -> None:
    folder = made(tmp_path, name, repository)
    before = of_folder(folder, repository)
    for path in files_in(folder):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    after = of_folder(folder, repository)
    assert [(step.uuid, step.text) for step in steps(after)] == [(step.uuid, step.text) for step in steps(before)]


def test_quotes_of_items_are_in_their_steps(tmp_path: Path, repository: Path) -> None:
    for name in ("claude-memory", "codex-memories", "beads", "basic-memory"):
        found = of_folder(made(tmp_path, name, repository), repository)
        texts = {step.uuid: step.text for step in steps(found)}
        quoted = [item for item in items(found).values() if item.quote]
        assert len(quoted) > 1
        assert all(item.quote in texts[item.source_uuid or ""] for item in quoted if item.quote)


def test_how_to_work_is_a_constraint_and_the_rest_of_claude_codes_memory_is_evidence(
    tmp_path: Path, repository: Path
) -> None:
    found = of_folder(made(tmp_path, "claude-memory", repository), repository)
    kinds = {text: item.kind for text, item in items(found).items()}
    assert kinds == {
        "Tests use a real database, never a mock of the store": "constraint",
        "The sync is rewritten because the old protocol loses tombstones": "evidence",
    }
    assert any("var/sync.log" in step.text for step in steps(found)), "a note without fields that the index names"
    (dated,) = [step for step in steps(found) if "Tests open a real SQLite file." in step.text]
    assert to_text(dated.at) == "2026-11-20T08:30:00.000Z"
    assert {step.session_id for step in steps(found)} == {"claude-memory:-home-ada-notes"}


def test_codexs_memories_of_other_projects_are_left_out_and_counted(tmp_path: Path, repository: Path) -> None:
    folder, tally = made(tmp_path, "codex-memories", repository), Tally()
    found = of_folder(folder, repository, tally)
    assert "recipes" not in str(found)
    assert tally.elsewhere == 2
    assert {item.kind for item in items(found).values()} == {"constraint", "attempt"}
    assert "the user wants commits in the imperative, at most 72 characters" in items(found)
    assert "sorting by wall clock lost two edits -> sort by the hybrid clock" in items(found)


def test_a_file_that_the_user_names_is_of_this_project(tmp_path: Path, repository: Path) -> None:
    folder = made(tmp_path, "codex-memories", repository)
    (source,) = find_sources(str(folder / "MEMORY.md"))
    assert "the recipes site is never green" in items(records(source, repository))


def test_an_open_issue_is_a_question_with_its_blockers_and_a_closed_one_is_resolved(
    tmp_path: Path, repository: Path
) -> None:
    found = items(of_folder(made(tmp_path, "beads", repository), repository))
    lost, runner = found["Sync loses tombstones of two devices"], found["Choose a test runner"]
    assert (lost.kind, lost.status, lost.body["priority"]) == ("question", "proposed", "high")
    assert "blocked by notes-b2." in lost.body["context"]
    assert (runner.status, runner.body["resolution"]) == ("resolved", "pytest it is")
    assert found["Keep attachments outside of the database"].kind == "decision"
    assert found["Releases are tagged on Tuesdays only"].kind == "evidence"
    assert "A deleted thing" not in found
    assert (
        to_text(next(step.at for step in steps(of_folder(tmp_path / "beads", repository))))
        == "2026-11-18T09:00:00.123Z"
    )


def test_observations_of_basic_memory_are_proposed_by_their_category(tmp_path: Path, repository: Path) -> None:
    found = items(of_folder(made(tmp_path, "basic-memory", repository), repository))
    assert {text: item.kind for text, item in found.items()} == {
        "Order edits by a hybrid logical clock": "decision",
        "Every message carries the version of the schema": "constraint",
        "How long are tombstones kept?": "question",
    }
    assert "(wall clocks lost two edits)" in found["Order edits by a hybrid logical clock"].body["rationale"]


def test_a_page_of_specstory_is_a_session_with_its_times(tmp_path: Path, repository: Path) -> None:
    found = [
        step for step in steps(of_folder(made(tmp_path, "specstory", repository), repository)) if "9357" in step.uuid
    ]
    assert [(step.kind, step.tool) for step in found] == [
        (NOTICE, None), (THINKING, None), (TEXT, None), (RESULT, "Bash"), (TEXT, None), (NOTICE, None),
    ]  # fmt: skip
    assert [to_text(step.at)[11:19] for step in found] == [
        "17:47:37", "17:47:42", "17:47:42", "17:47:45", "17:48:00", "18:01:02",
    ]  # fmt: skip
    assert "src/sync.py:41:" in found[3].text
    assert "_**User**_\nnot a message" in found[4].text
    assert found[5].text == "then acknowledge first"


def test_aiders_history_is_a_session_a_chat(tmp_path: Path, repository: Path) -> None:
    found = of_folder(made(tmp_path, "aider", repository), repository)
    assert [(kind, text.split("\n")[0]) for kind, _, text in shown(found)] == [
        (RESULT, "aider --model sonnet sync.py"),
        (NOTICE, "write a hybrid clock"),
        (TEXT, "Here is the clock:"),
        (RESULT, "Tokens: 2.4k sent, 104 received. Cost: $0.01 message, $0.01 session."),
        (NOTICE, "/undo"),
        (RESULT, "Removed: 1b2614a feat: add a hybrid clock"),
    ]
    assert [record.session_id for record in found if isinstance(record, StoredSession)] == [
        "aider:2026-11-16T14:43:45",
        "aider:2026-11-17T09:00:00",
    ]


def test_a_chat_that_aider_continues_adds_only_what_is_new(tmp_path: Path, repository: Path) -> None:
    folder = made(tmp_path, "aider", repository)
    before = {step.uuid for step in steps(of_folder(folder, repository))}
    with (folder / ".aider.chat.history.md").open("a", encoding="utf-8") as file:
        file.write("\n#### and a test  \n\nHere it is.\n")
    after = {step.uuid for step in steps(of_folder(folder, repository))}
    assert before < after
    assert len(after - before) == 2


def test_clines_older_messages_get_their_times_from_what_was_shown(tmp_path: Path, repository: Path) -> None:
    found = steps(of_folder(made(tmp_path, "cline", repository), repository))
    assert [(step.kind, step.tool, step.at - 1_795_251_600_000) for step in found] == [
        (NOTICE, None, 100), (TEXT, None, 4000), (RESULT, "read_file", 4000), (TEXT, None, 9000),
    ]  # fmt: skip
    assert found[0].text == "Rename the watermark column"
    assert found[2].text == "[read_file for 'schema.sql'] Result:\nCREATE TABLE device (watermark INTEGER)"


def test_roos_calls_and_failures_are_steps(tmp_path: Path, repository: Path) -> None:
    found = steps(of_folder(made(tmp_path, "roo", repository), repository))
    assert {step.session_id for step in found} == {"roo:5f3c1d2e-0000-4000-8000-000000000001"}
    assert [step.kind for step in found] == [NOTICE, THINKING, TEXT, CALL, RESULT]
    assert json.loads(found[3].text) == {"command": "sqlite3 notes.db < index.sql"}
    assert found[4].is_error
    assert found[4].tool_use_id == found[3].tool_use_id == "toolu_1"


def test_clines_newer_sessions_are_read(tmp_path: Path, repository: Path) -> None:
    found = of_folder(made(tmp_path, "cline-4", repository), repository)
    assert shown(found) == [
        (NOTICE, None, "Where is the hybrid clock?"),
        (THINKING, None, "grep for it"),
        (CALL, "search_codebase", '{"queries":["HybridClock"]}'),
        (RESULT, None, "sync.py:12: class HybridClock"),
        (TEXT, None, "The hybrid clock is in sync.py."),
    ]


@pytest.mark.usefixtures("alarm")
def test_very_many_open_tags_in_a_prompt_of_cline_take_no_time(tmp_path: Path, repository: Path) -> None:
    (path,) = made(tmp_path, "cline-4", repository).rglob("*.messages.json")
    session = json.loads(path.read_text(encoding="utf-8"))
    prompt = "<task " * 100_000
    session["messages"][0]["content"] = [{"type": "text", "text": f"<task>{prompt}"}]
    path.write_text(json.dumps(session), encoding="utf-8")
    (source,) = find_sources(str(path))
    assert steps(records(source, repository))[0].text == prompt.strip()


@pytest.mark.parametrize("name", ["cline", "roo", "cline-4", "copilot-cli"])
def test_a_session_of_another_project_is_left_out_of_a_folder(tmp_path: Path, repository: Path, name: str) -> None:
    folder, tally = made(tmp_path, name, tmp_path / "elsewhere"), Tally()
    assert not steps(of_folder(folder, repository, tally))
    assert tally.elsewhere == 1
    (source,) = find_sources(str(folder))
    (named,) = find_sources(source.files[0])
    assert steps(records(named, repository))


def test_a_newer_version_of_clines_sessions_is_refused(tmp_path: Path, repository: Path) -> None:
    (path,) = made(tmp_path, "cline-4", repository).rglob("*.messages.json")
    path.write_text(path.read_text(encoding="utf-8").replace('"version":1', '"version":2'), encoding="utf-8")
    (source,) = find_sources(str(path))
    with pytest.raises(ForeignFileError, match="has version 2"):
        records(source, repository)


def test_copilots_events_are_steps_and_a_call_is_shown_once(tmp_path: Path, repository: Path) -> None:
    found = of_folder(made(tmp_path, "copilot-cli", repository), repository)
    query = '{"command":"sqlite3 notes.db \'SELECT count(*) FROM tombstone\'"}'
    assert shown(found) == [
        (NOTICE, None, "Count the tombstones"),
        (THINKING, None, "One query is enough."),
        (TEXT, None, "I count them with SQL."),
        (CALL, "bash", query),
        (RESULT, None, "4711"),
        (TEXT, None, "There are 4711 tombstones."),
    ]


@pytest.mark.parametrize("name", ["beads", "mempalace", "copilot-cli"])
def test_a_damaged_line_is_skipped_and_counted_with_its_place(tmp_path: Path, repository: Path, name: str) -> None:
    (path,) = made(tmp_path, name, repository).rglob("*.jsonl")
    before = steps(of_folder(tmp_path / name, repository))
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b'{"torn": \n[1]\n' + b"[" * 100_000 + b"\n" + b"".join(rest) + b'{"half')
    tally = Tally()
    assert [step.text for step in steps(of_folder(tmp_path / name, repository, tally))] == [
        step.text for step in before
    ]
    assert (tally.skipped, tally.first) == (4, f"{path}, line 2")


def test_a_line_that_is_too_long_for_any_program_is_skipped(tmp_path: Path, repository: Path) -> None:
    (path,) = made(tmp_path, "beads", repository).rglob("*.jsonl")
    last = path.read_bytes()
    os.truncate(path, 200 << 20)  # a line of zeros
    with path.open("ab") as file:
        file.write(b"\n" + last)
    tally = Tally()
    found = of_folder(tmp_path / "beads", repository, tally)
    assert "Releases are tagged on Tuesdays only" in items(found)
    assert tally.skipped == 1


def test_links_and_pipes_in_a_folder_are_not_read(tmp_path: Path, repository: Path) -> None:
    folder = made(tmp_path, "specstory", repository)
    before = of_folder(folder, repository)
    elsewhere = made(tmp_path / "elsewhere", "specstory", repository)
    (folder / "link.md").symlink_to(files_in(elsewhere)[0])
    (folder / "linked").symlink_to(elsewhere)
    os.mkfifo(folder / "pipe.md")
    assert of_folder(folder, repository) == before


def test_a_file_that_is_damaged_is_refused_by_name_and_skipped_in_a_folder(tmp_path: Path, repository: Path) -> None:
    folder = made(tmp_path, "roo", repository)
    (path,) = folder.rglob("api_conversation_history.json")
    path.write_bytes(path.read_bytes()[:-9])
    (source,) = find_sources(str(path))
    with pytest.raises(ForeignFileError, match=r"api_conversation_history\.json is damaged"):
        records(source, repository)
    tally = Tally()
    assert not of_folder(folder, repository, tally)
    assert (tally.skipped, tally.first) == (1, f"{path}, the whole file")


def test_a_folder_with_transcripts_of_an_agent_is_one_of_transcripts(tmp_path: Path, repository: Path) -> None:
    folder = made(tmp_path, "claude-memory", repository)
    (folder / "s.jsonl").write_text('{"type":"user","uuid":"u","sessionId":"s"}\n', encoding="utf-8")
    (source,) = find_sources(str(folder))
    assert source.format == TRANSCRIPT


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_ends_anywhere_or_has_any_byte_breaks_nothing(tmp_path: Path, repository: Path, name: str) -> None:
    folder = made(tmp_path, name, repository)
    for path in files_in(folder):
        whole = path.read_bytes()
        for at in range(0, len(whole), EVERY):
            for damaged in (whole[:at], whole[:at] + b"\xff" + whole[at + 1 :], whole[:at] + b"\0\n[{" + whole[at:]):
                path.write_bytes(damaged)
                read_any([path], repository)
        path.write_bytes(whole)


def read_any(files: Iterable[Path], repository: Path) -> None:
    """Read files by their names. Any error but ForeignFileError fails the test."""
    for path in files:
        with suppress(ForeignFileError):
            for source in find_sources(str(path)):
                if source.format in FORMATS.values():
                    for step in steps(records(source, repository)):
                        step.text.encode()
                        assert step.at >= 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-19 17:47:37Z", "2026-11-19T17:47:37.000Z"),
        ("2025-10-01_23-30Z-old-page.md", "2025-10-01T23:30:00.000Z"),
        ("(claude-opus-5 2026-11-19 17:47:42Z)", "2026-11-19T17:47:42.000Z"),
        ("2026-11-18T09:00:00.123456789Z", "2026-11-18T09:00:00.123Z"),
        ("2026-11-17T08:00:00.5+01:00", "2026-11-17T07:00:00.500Z"),
        ("2026-99-17 08:00", None),
        ("no time", None),
    ],
)
def test_a_time_is_found_in_a_text(text: str, expected: str | None) -> None:
    assert moment(text) == 0 if expected is None else to_text(moment(text)) == expected

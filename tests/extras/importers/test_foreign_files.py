"""What other programs kept is read as they wrote it; what is damaged is one clear error; nothing of theirs is
written.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from unified_state.errors import ForeignFileError
from unified_state.extras.importers import claude_flow, claude_flow_json, claude_mem
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredStep
from unified_state.upkeep.foreign.foreign_text import ForeignFile, Tally

from .foreign import FLOW, FLOW_JSON, MEM, PROJECT, database, database_of


def steps(records: Iterable[HistoryRecord]) -> list[StoredStep]:
    """The steps among some records."""
    return [record for record in records if isinstance(record, StoredStep)]


def items(records: Iterable[HistoryRecord]) -> list[StoredItem]:
    """The items among some records."""
    return [record for record in records if isinstance(record, StoredItem)]


def read(name: str, path: Path) -> Iterable[HistoryRecord]:
    """What a database of one of the programs holds."""
    return claude_flow.read_database(str(path)) if name == FLOW else claude_mem.read_database(str(path), PROJECT)


def flow_json(path: Path) -> Iterable[HistoryRecord]:
    """What claude-flow's archive without SQLite holds."""
    return claude_flow_json.read(ForeignFile(str(path), Tally(), worktree="", is_named=True))


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a folder, and when it was changed."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_claude_flows_database_gives_each_turn_whole_with_its_fields_but_not_its_embedding(tmp_path: Path) -> None:
    found = steps(claude_flow.read_database(str(database(tmp_path, FLOW))))
    assert found[0].text == "User: Add a login page with JWT\n\nAssistant: Done: 登录页 is at /login 😀"
    original = found[0].unknown["original"]
    assert original["metadata"]["chunkIndex"] == 0
    assert original["confidence"] == 0.795
    assert "embedding" not in original
    json.dumps(original)


def test_claude_flows_json_gives_the_same_turns_as_its_database(tmp_path: Path) -> None:
    ours = steps(claude_flow.read_database(str(database(tmp_path, FLOW))))
    theirs = steps(flow_json(FLOW_JSON))
    shown = [[(step.session_id, step.kind, step.text, step.starts_turn) for step in found] for found in (ours, theirs)]
    assert shown[0] == shown[1]
    assert all(step.uuid.startswith("claude-flow:ctx-") for step in ours + theirs)


def test_claude_mem_gives_what_it_holds_of_one_project(tmp_path: Path) -> None:
    found = steps(claude_mem.read_database(str(database(tmp_path, MEM)), PROJECT))
    assert [(step.kind, step.text[:20]) for step in found] == [
        ("tool_call", '{"file_path":"/repo/'),
        ("tool_result", "ok"),
        ("text", "JWT chosen over sess"),
        ("text", "request: login page\n"),
        ("notice", "Add a login page wit"),
    ]
    assert {step.session_id for step in found} == {"claude-mem:5a1e0000-0000-4000-8000-00000000cafe"}
    assert "another project" not in str(found)


def test_claude_mem_names_its_projects_where_the_one_asked_for_is_not_among_them(tmp_path: Path) -> None:
    with pytest.raises(ForeignFileError, match="another, project; name one with --project"):
        list(claude_mem.read_database(str(database(tmp_path, MEM)), "elsewhere"))


def test_what_claude_mem_merged_into_a_project_is_read_with_it(tmp_path: Path) -> None:
    path = database(tmp_path, MEM)
    with closing(sqlite3.connect(path)) as writer:
        for table in ("observations", "session_summaries"):
            writer.execute(f"UPDATE {table} SET merged_into_project = 'main', project = 'main/worktree'")
        writer.execute("UPDATE sdk_sessions SET project = 'main'")
        writer.commit()
    texts = [step.text for step in steps(claude_mem.read_database(str(path), "main"))]
    assert any(text.startswith("JWT chosen") for text in texts)
    assert any(text.startswith("request: login page") for text in texts)


def test_steps_of_claude_mem_are_the_same_after_it_named_its_session_anew(tmp_path: Path) -> None:
    path = database(tmp_path, MEM)
    before = [step.uuid for step in steps(claude_mem.read_database(str(path), PROJECT))]
    with closing(sqlite3.connect(path)) as writer:
        for table in ("sdk_sessions", "observations", "session_summaries", "tool_uses"):
            writer.execute(f"UPDATE {table} SET memory_session_id = 'anew-' || memory_session_id")
        writer.commit()
    assert [step.uuid for step in steps(claude_mem.read_database(str(path), PROJECT))] == before


def test_what_was_marked_as_private_in_a_turn_of_claude_flow_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "transcript-archive.json"
    path.write_text(FLOW_JSON.read_text(encoding="utf-8").replace("User: ", "User: <private>hush</private> "), "utf-8")
    assert "hush" not in str(list(flow_json(path)))


def test_a_database_in_use_is_read_with_its_journal_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    path = database(tmp_path, FLOW)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE transcript_entries SET content = 'only in the journal'")
        writer.commit()
        before = files(tmp_path)
        assert (tmp_path / "foreign.db-wal").stat().st_size
        found = steps(claude_flow.read_database(str(path)))
        assert files(tmp_path) == before
    assert {step.text for step in found} == {"only in the journal"}


def test_what_was_not_committed_does_not_count(tmp_path: Path) -> None:
    path = database(tmp_path, FLOW)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN")
        writer.execute("UPDATE transcript_entries SET content = 'half done'")
        found = steps(claude_flow.read_database(str(path)))
    assert "half done" not in {step.text for step in found}


def test_no_copy_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    path = database(tmp_path, FLOW)
    list(claude_flow.read_database(str(path)))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ForeignFileError):
        list(claude_flow.read_database(str(path)))
    assert not list(folder.iterdir())


def test_a_link_leads_to_the_database_and_its_journal(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    link = tmp_path / "link.db"
    with closing(sqlite3.connect(database(folder, FLOW))) as writer:
        link.symlink_to(folder / "foreign.db")
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE transcript_entries SET content = 'only in the journal'")
        writer.commit()
        found = steps(claude_flow.read_database(str(link)))
    assert {step.text for step in found} == {"only in the journal"}


def test_a_value_that_no_program_wrote_is_one_clear_error(tmp_path: Path) -> None:
    path = database(tmp_path, FLOW)
    with closing(sqlite3.connect(path)) as writer:
        huge = "TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000)))"
        writer.execute(f"ALTER TABLE transcript_entries ADD COLUMN huge {huge}")
    with pytest.raises(ForeignFileError, match="too big"):
        list(claude_flow.read_database(str(path)))


@pytest.mark.parametrize("kept", [0, 100, 5000, 9000])
@pytest.mark.parametrize("name", [FLOW, MEM])
def test_a_database_that_was_cut_is_one_clear_error(tmp_path: Path, name: str, kept: int) -> None:
    path = database(tmp_path, name)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ForeignFileError) as raised:
        list(read(name, path))
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_view_is_no_table(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(id) AS (VALUES(1) UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
    script = f"CREATE VIEW transcript_entries AS {endless}"
    with pytest.raises(ForeignFileError, match="transcript_entries has no"):
        list(claude_flow.read_database(str(database_of(tmp_path, script))))


def test_values_of_any_type_and_broken_text_are_taken_as_data(tmp_path: Path) -> None:
    path = database(tmp_path, FLOW)
    with closing(sqlite3.connect(path)) as writer:
        columns = "id, key, content, metadata, created_at, updated_at, last_accessed_at"
        for values in ("'x', '', CAST(X'48EDA0BD21' AS TEXT), '{]', 'yesterday'", "X'00', 1, X'00', X'00', 1e300"):
            writer.execute(f"INSERT INTO transcript_entries ({columns}) VALUES ({values}, 1, 1)")
        writer.commit()
    *_, last = steps(claude_flow.read_database(str(path)))
    assert (last.uuid, last.at, last.session_id) == ("claude-flow:x", 0, "claude-flow:unknown")
    last.text.encode()


def test_a_json_archive_that_ends_in_the_middle_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "transcript-archive.json"
    path.write_bytes(FLOW_JSON.read_bytes()[:-200])
    with pytest.raises(ForeignFileError, match="is damaged"):
        list(flow_json(path))


@pytest.mark.parametrize("name", [FLOW, MEM])
def test_a_byte_of_a_schema_that_is_no_text_is_a_damaged_file_wherever_it_stands(tmp_path: Path, name: str) -> None:
    path = database(tmp_path, name)
    whole = path.read_bytes()
    first = whole.index(b"CREATE TABLE")
    for at in range(first, first + 400, 7):
        path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        with suppress(ForeignFileError):  # a byte of a comment changes nothing; any other error fails this test
            list(read(name, path))

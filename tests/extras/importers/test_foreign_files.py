"""What other programs kept is read as they wrote it; what is damaged is one clear error; nothing of theirs is
written.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from unified_state.errors import ForeignFileError
from unified_state.extras.importers import claude_flow, claude_flow_json, claude_mem
from unified_state.model.history_records import HistoryRecord, StoredItem, StoredStep
from unified_state.upkeep.exchange.foreign_files import ForeignFile, Tally

from .foreign import FLOW, FLOW_JSON, MEM, PROJECT, database


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


def test_claude_flows_database_gives_each_turn_whole(tmp_path: Path) -> None:
    found = steps(claude_flow.read_database(str(database(tmp_path, FLOW))))
    assert found[0].text == "User: Add a login page with JWT\n\nAssistant: Done: 登录页 is at /login 😀"


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

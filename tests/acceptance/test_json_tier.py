"""A project whose history lies in files of JSON: chosen, or because this Python was built without SQLite."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from .namespaces import in_folder, mounted
from .product import Project, all_bytes, archive_is_whole, hook_command, restored, told_in_one_line
from .reading import kept, said
from .striking import hook_struck_at, run_struck
from .transcripts import Transcript

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact")
KILLED_AT = range(1, 60, 2)


@pytest.fixture(params=["chosen", "no SQLite"])
def without(
    request: pytest.FixtureRequest, project: Project, write_settings: Callable[[str], None]
) -> Iterator[Project]:
    """The project where nothing can be, or shall be, kept in an archive."""
    if request.param == "chosen":
        write_settings('tier = "json"\n')
        yield project
        return
    import _sqlite3

    with mounted(f"mount --bind /dev/null {_sqlite3.__file__}") as prefix:
        yield Project(project.folder, project.home, in_folder(prefix, str(project.folder)))


@pytest.fixture
def chosen(project: Project, write_settings: Callable[[str], None]) -> Project:
    """The project with the tier chosen."""
    write_settings('tier = "json"\n')
    return project


def test_every_turn_is_archived_and_after_a_compaction_state_and_turns_come_back(
    without: Project, tmp_path: Path
) -> None:
    without.decide("Use JSON here")
    without.ask("constraint", "add", "API v1 stays", "--source", "user", "--blocking")
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    for number in range(5):
        written.turn(number)
        written.write(path)
        assert without.hook("UserPromptSubmit", transcript_path=str(path), prompt="and now?").code == 0
        assert without.hook("Stop", transcript_path=str(path)).code == 0
    done = without.hook("PreCompact", transcript_path=str(path), trigger="auto")
    assert "D1: Use JSON here" in done.out
    texts = restored(without, path)
    assert "D1" in texts["brief"]
    assert "API v1 stays" in texts["brief"]
    assert "[LAST TURNS]" in texts["working_set"]
    exported = [line for line in without.export("s") if line.get("text") != "and now?"]
    assert kept(exported) == said(written.content)
    assert without.archives == []
    assert without.log() == ""


def test_items_are_recorded_changed_listed_and_shown_in_the_state_file(without: Project) -> None:
    assert [without.decide(text) for text in ("one", "two")] == ["D1", "D2"]
    assert without.ask("decision", "supersede", "D1", "three", "--rationale", "r")["id"] == "D3"
    without.ask("question", "add", "Which port?", "--context", "c")
    assert without.ask("question", "resolve", "Q1", "8081")["resolved"]
    without.ask("evidence", "add", "error", "boom", "--source", "s")
    without.ask("attempt", "add", "tried", "--outcome", "failed")
    without.ask("work", "set", "--id", "X-1", "--phase", "test")
    without.ask("save", "--highlight", "halfway", "--action", "go on")
    state = without.state()
    assert [(entry["id"], entry.get("status")) for entry in state["decisions"]] == [
        ("D1", "superseded"),
        ("D2", None),
        ("D3", None),
    ]
    assert state["workItem"]["id"] == "X-1"
    assert state["summaries"]["pendingActions"] == ["go on"]
    assert without.ask("recall", "D1")["superseded_by"] == "D3"
    assert [item["id"] for item in without.ask("decision", "list")] == ["D2", "D3"]
    assert "X-1" in without.run("load").out
    assert without.run("validate").code == 0
    assert without.ask("status")["tier"] == "json"


def test_a_ref_is_the_same_in_any_case(chosen: Project) -> None:
    chosen.decide("one")
    chosen.ask("question", "add", "Which port?", "--context", "c")
    assert chosen.run("question", "resolve", "q1", "8081").code == 0
    assert chosen.ask("recall", "q1")["status"] == "resolved"
    assert chosen.run("forget", "d1").code == 0
    assert chosen.ask("decision", "list", "--all") == []


def test_an_item_is_recalled_though_the_disk_changed_the_one_that_it_superseded(chosen: Project) -> None:
    chosen.decide("one")
    chosen.ask("decision", "supersede", "D1", "two", "--rationale", "r")
    (path,) = chosen.data.rglob("items.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"alias":"D1"', b'"alias"D1"'))
    assert chosen.ask("recall", "D2")["links"] == []
    assert chosen.run("export", "--items").code == 0


def test_what_is_paged_out_leaves_the_state_file(chosen: Project) -> None:
    chosen.ask("constraint", "add", "API v1 stays", "--source", "user")
    assert [entry["id"] for entry in chosen.state()["constraints"]] == ["C1"]
    assert chosen.at_terminal("constraint", "lift", "C1").code == 0
    assert chosen.state()["constraints"] == []
    assert chosen.ask("recall", "C1")["status"] == "resolved"


def test_a_change_counts_though_the_clock_went_back(chosen: Project) -> None:
    chosen.ask("question", "add", "Which port?", "--context", "c")
    chosen.ask("question", "resolve", "Q1", "8081")
    (path,) = chosen.data.rglob("items.jsonl")
    (changed_at,) = re.findall(rb'"changed_at":"(\d{4})', path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b'"changed_at":"' + changed_at, b'"changed_at":"2999'))
    chosen.ask("question", "resolve", "Q1", "8082")
    assert chosen.ask("recall", "Q1")["body"]["resolution"] == "8082"


def test_what_was_said_is_found_recalled_and_forgotten(without: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("the swordfish is in the cupboard")
    written.text("I put the quokka beside it")
    path = written.write(tmp_path / "s.jsonl")
    assert without.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    without.decide("Remember the swordfish")
    (hit,) = [hit for hit in without.ask("search", "quokka") if hit["kind"] == "text"]
    assert "quokka" in without.ask("recall", hit["ref"])["text"]
    done = without.ask("forget", "--match", "swordfish")
    assert (done["steps"], done["items"]) == (1, 1)
    assert without.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert without.ask("search", "swordfish") == []
    path.unlink()
    assert b"swordfish" not in all_bytes([without.home, without.folder])
    assert without.decide("another") == "D2"


def test_who_forgets_is_told_of_an_archive_that_is_not_looked_at(
    project: Project, write_settings: Callable[[str], None]
) -> None:
    project.decide("the swordfish")
    write_settings('tier = "json"\n')
    project.decide("the swordfish again")
    done = project.run("forget", "--match", "swordfish")
    assert done.code == 0
    assert f"{project.archive} was not looked at: tier is json" in done.err


def test_what_does_not_work_says_so_in_one_line(without: Project) -> None:
    without.decide("one")
    for arguments in (("why", "D1"), ("scan",), ("restore",), ("context",), ("survival",)):
        assert told_in_one_line(done := without.run(*arguments)), (arguments, done)
        assert "SQLite" in done.err


def test_hooks_never_fail_the_turn(without: Project, tmp_path: Path) -> None:
    for event in EVENTS:
        for path in (str(tmp_path / "none.jsonl"), "", str(tmp_path)):
            done = without.hook(event, transcript_path=path, session_id="\ud83d/../x", prompt="a\0b", trigger="auto")
            assert done.code == 0, (event, done)


def test_doctor_says_that_there_is_no_sqlite(project: Project, write_settings: Callable[[str], None]) -> None:
    import _sqlite3

    with mounted(f"mount --bind /dev/null {_sqlite3.__file__}") as prefix:
        bare = Project(project.folder, project.home, in_folder(prefix, str(project.folder)))
        (check,) = [check for check in json.loads(bare.run("doctor", "--json").out) if check["name"] == "tier"]
        assert not check["ok"]
        assert "no SQLite" in check["message"]
        write_settings('tier = "json"\n')
        (check,) = [check for check in json.loads(bare.run("doctor", "--json").out) if check["name"] == "tier"]
        assert check["ok"]


def test_a_project_cannot_choose_the_tier(project: Project) -> None:
    settings = project.folder / ".claude" / "unified-state.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('tier = "json"\n', encoding="utf-8")
    assert project.run("decision", "add", "x", "--rationale", "r").code == 0
    assert len(project.archives) == 1


def test_of_eight_at_once_none_is_lost_and_no_id_is_given_twice(chosen: Project) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(chosen.decide, [f"decision {number}" for number in range(24)]))
    assert sorted(ids, key=lambda alias: int(alias[1:])) == [f"D{number}" for number in range(1, 25)]
    assert [item["id"] for item in chosen.ask("decision", "list")] == sorted(ids, key=lambda alias: int(alias[1:]))


def test_a_hook_that_is_killed_at_any_point_loses_nothing(chosen: Project, tmp_path: Path) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    stdin = chosen.event("PreCompact", transcript_path=str(path), trigger="auto")
    for number, point in enumerate(KILLED_AT):
        written.turn(number)
        written.write(path)
        run_struck(hook_struck_at(point, chosen.data, hook_command("PreCompact")), chosen.folder, stdin)
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert kept(chosen.export("s")) == said(written.content)


def test_the_summary_that_a_hook_was_told_is_kept_wherever_the_next_is_killed(chosen: Project, tmp_path: Path) -> None:
    for number, point in enumerate(range(6, 48, 3), 1):
        session, path = f"s{number}", tmp_path / f"{number}.jsonl"
        fields = {"session_id": session, "transcript_path": str(path)}
        written = Transcript(session, number)
        written.turn(number)
        written.write(path)
        told = f"<summary>what hook {number} was told</summary>"
        assert chosen.hook("SubagentStop", agent_type="", last_assistant_message=told, **fields).code == 0
        written.compaction("what the transcript has")
        written.write(path)
        stdin = chosen.event("UserPromptSubmit", **fields)
        run_struck(hook_struck_at(point, chosen.data, hook_command("UserPromptSubmit")), chosen.folder, stdin)
        assert chosen.hook("UserPromptSubmit", **fields).code == 0
        assert chosen.ask("recall", f"K{number}")["summary"] == f"what hook {number} was told"


def test_secrets_are_masked(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    secret = "hunter2" + "hunter2"
    written.prompt(f"export DB_PASSWORD={secret} and go on")
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    chosen.decide(f"Use DB_PASSWORD={secret} for now")
    assert secret.encode() not in all_bytes([chosen.home, chosen.folder])


def test_with_sqlite_again_all_of_it_is_in_the_archive_and_the_files_are_gone(
    chosen: Project, tmp_path: Path, write_settings: Callable[[str], None]
) -> None:
    written = Transcript("s")
    for number in range(5):
        written.turn(number)
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert [chosen.decide("one"), chosen.decide("two")] == ["D1", "D2"]
    chosen.ask("work", "set", "--id", "X-1")
    chosen.ask("save", "--highlight", "halfway", "--action", "go on")
    path.unlink()
    write_settings("")
    assert chosen.decide("three") == "D3"
    assert [item["decision"] for item in chosen.ask("decision", "list")] == ["one", "two", "three"]
    assert kept(chosen.export("s")) == said(written.content)
    state = chosen.state()
    assert state["summaries"]["pendingActions"] == ["go on"]
    assert state["workItem"]["id"] == "X-1"
    assert archive_is_whole(chosen.archive)
    with closing(sqlite3.connect(chosen.archive)) as archive:
        assert archive.execute("SELECT count(*) FROM item").fetchone() == (3,)
    assert list(chosen.data.rglob("*.jsonl")) == []

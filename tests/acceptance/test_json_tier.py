"""A project whose history lies in a journal of JSON lines, because its user chose so."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.amount import amount
from unified_state.agents.install.hook_table import tool_hook_group

from .lean import LONG, LeanSession
from .product import (
    Project,
    all_bytes,
    archive_is_whole,
    hook_command,
    restored,
)
from .reading import kept, said
from .striking import command_struck_at, hook_struck_at, run_struck
from .transcripts import Transcript

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact")
KILLED_AT = range(1, 60, amount(2, 6))


@pytest.fixture
def chosen(project: Project, write_settings: Callable[[str], None]) -> Project:
    """The project with the tier chosen."""
    write_settings('tier = "json"\n')
    return project


def test_every_turn_is_archived_and_after_a_compaction_state_and_turns_come_back(
    chosen: Project, tmp_path: Path
) -> None:
    chosen.decide("Use JSON here")
    chosen.ask("constraint", "add", "API v1 stays", "--source", "user", "--blocking")
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    for number in range(5):
        written.turn(number)
        written.write(path)
        assert chosen.hook("UserPromptSubmit", transcript_path=str(path), prompt="and now?").code == 0
        assert chosen.hook("Stop", transcript_path=str(path)).code == 0
    done = chosen.hook("PreCompact", transcript_path=str(path), trigger="auto")
    assert "D1 (the user said): Use JSON here" in done.out
    texts = restored(chosen, path)
    assert "D1" in texts["brief"]
    assert "API v1 stays" in texts["brief"]
    assert all(f"T{number} agent: Done with turn {number - 1}: " in texts["brief"] for number in range(1, 6))
    exported = [line for line in chosen.export("s") if line.get("text") != "and now?"]
    assert kept(exported) == said(written.content)
    assert chosen.archives == []
    assert chosen.log() == ""


def test_items_are_recorded_changed_listed_and_shown_in_the_state_file(chosen: Project) -> None:
    assert [chosen.decide(text) for text in ("one", "two")] == ["D1", "D2"]
    assert chosen.ask("decision", "supersede", "D1", "three", "--rationale", "r")["id"] == "D3"
    chosen.ask("question", "add", "Which port?", "--context", "c")
    assert chosen.ask("question", "resolve", "Q1", "8081")["resolved"]
    chosen.ask("evidence", "add", "error", "boom", "--source", "s")
    chosen.ask("attempt", "add", "tried", "--outcome", "failed")
    chosen.ask("work", "set", "--id", "X-1", "--phase", "test")
    chosen.ask("save", "--highlight", "halfway", "--action", "go on")
    state = chosen.state()
    assert [(entry["id"], entry.get("status")) for entry in state["decisions"]] == [
        ("D1", "superseded"),
        ("D2", None),
        ("D3", None),
    ]
    assert state["workItem"]["id"] == "X-1"
    assert state["summaries"]["pendingActions"] == ["go on"]
    assert chosen.ask("show", "D1")["superseded_by"] == "D3"
    assert [item["id"] for item in chosen.ask("decision", "list")] == ["D2", "D3"]
    assert "X-1" in chosen.run("load").out
    assert chosen.run("validate").code == 0
    assert chosen.ask("status")["tier"] == "json"


def test_a_ref_is_the_same_in_any_case(chosen: Project) -> None:
    chosen.decide("one")
    chosen.ask("question", "add", "Which port?", "--context", "c")
    assert chosen.run("question", "resolve", "q1", "8081").code == 0
    assert chosen.ask("show", "q1")["status"] == "resolved"
    assert chosen.run("forget", "d1", "--yes").code == 0
    assert chosen.ask("decision", "list", "--all") == []


def test_a_commit_that_the_disk_has_damaged_is_left_out_and_told(chosen: Project) -> None:
    chosen.decide("one")
    chosen.decide("two")
    chosen.decide("three")
    (path,) = chosen.data.rglob("history.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"alias":"D2"', b'"alias"D2"'))
    assert [item["id"] for item in chosen.ask("decision", "list")] == ["D1", "D3"]
    (check,) = [check for check in json.loads(chosen.run("doctor", "--json").out) if check["name"] == "tier"]
    assert "1 lines of the history" in check["message"]


def test_what_is_paged_out_leaves_the_state_file(chosen: Project) -> None:
    chosen.ask("constraint", "add", "API v1 stays", "--source", "user")
    assert [entry["id"] for entry in chosen.state()["constraints"]] == ["C1"]
    assert chosen.at_terminal("constraint", "lift", "C1").code == 0
    assert chosen.state()["constraints"] == []
    assert chosen.ask("show", "C1")["status"] == "resolved"


def test_what_was_said_is_found_recalled_and_forgotten(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("the swordfish is in the cupboard")
    written.text("I put the quokka beside it")
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    chosen.decide("Remember the swordfish")
    (hit,) = [hit for hit in chosen.ask("search", "quokka") if hit["kind"] == "text"]
    assert "quokka" in chosen.ask("show", hit["ref"])["text"]
    done = chosen.ask("forget", "--match", "swordfish", "--yes")
    assert (done["steps"], done["items"]) == (1, 1)
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert chosen.ask("search", "swordfish") == []
    path.unlink()
    assert b"swordfish" not in all_bytes([chosen.home, chosen.folder])
    assert chosen.decide("another") == "D2"


def test_what_needed_an_archive_before_works(chosen: Project, tmp_path: Path) -> None:
    """Facts that are captured, proposals, why, scan, restore, context, survival, the working set, ingest."""
    written = Transcript("s")
    written.prompt("go")
    written.selects("Which branch?", "never push to main")
    written.call("Edit", {"file_path": "/home/dev/proj/app.py", "old_string": "a", "new_string": "b"}, "done")
    written.prompt("go on")
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.ask("import", str(path))[0]["added"] > 0
    (proposed,) = chosen.ask("inbox", "list")
    assert chosen.at_terminal("inbox", "accept", proposed["id"]).code == 0
    assert "never push to main" in chosen.run("show", "--source", proposed["id"]).out
    assert "app.py" in chosen.run("preview", "--session", "s").out
    assert chosen.ask("scan")["refs"] == []
    assert chosen.run("context").code in (0, 1)
    chosen.decide("Use one journal")
    assert f"{proposed['id']} (the user said): Which branch? never push to main" in restored(chosen, path)["brief"]
    assert "app.py" in restored(chosen, path)["brief"]
    assert chosen.run("compactions").code == 0


def test_a_constraint_is_enforced(chosen: Project) -> None:
    arguments = ("--source", "the team", "--scope", "command:git push --force", "--mode", "deny")
    chosen.ask("constraint", "add", "Never force-push", *arguments)
    event = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
    command = list(tool_hook_group(str(chosen.data))["hooks"][0].values())
    done = chosen.execute([command[1], *command[2]], chosen.event("PreToolUse", **event), {})
    assert '"permissionDecision":"deny"' in done.out
    (table,) = chosen.data.rglob("enforced.json")
    table.unlink()
    done = chosen.execute([command[1], *command[2]], chosen.event("PreToolUse", **event), {})
    assert '"permissionDecision":"deny"' in done.out


def test_a_long_output_is_shortened_and_recalled_whole(chosen: Project, tmp_path: Path) -> None:
    session = LeanSession(chosen, tmp_path / "s.jsonl")
    assert session.alone(LONG) != LONG
    (hit,) = chosen.ask("search", "the long way", "--kind", "tool_result")
    assert chosen.ask("show", hit["ref"])["result"] == LONG


def test_what_other_sessions_decide_and_subagents_need_is_told(chosen: Project, tmp_path: Path) -> None:
    for session in ("one", "two"):
        written = Transcript(session)
        written.turn(1)
        chosen.keep(written, tmp_path / f"{session}.jsonl", "UserPromptSubmit")
    done = chosen.run("decision", "add", "Use one journal", "--rationale", "r", CLAUDE_CODE_SESSION_ID="one")
    assert done.code == 0, done
    told = chosen.hook("UserPromptSubmit", session_id="two", transcript_path=str(tmp_path / "two.jsonl"), prompt="x")
    assert "Use one journal" in told.out


def test_numbers_that_refs_name_and_what_was_given_back_outlive_the_replay(chosen: Project, tmp_path: Path) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    for number in range(3):
        written.turn(number)
    chosen.keep(written, path)
    before = (chosen.run("export").out, chosen.ask("search", "swordfish"), chosen.ask("status"))
    assert (chosen.run("export").out, chosen.ask("search", "swordfish"), chosen.ask("status")) == before
    assert chosen.decide("one") == "D1"
    assert chosen.decide("two") == "D2"


def test_a_purge_leaves_nothing(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.prompt("the swordfish")
    chosen.keep(written, tmp_path / "s.jsonl")
    (tmp_path / "s.jsonl").unlink()
    assert chosen.run("uninstall", "--purge").code == 0
    assert b"swordfish" not in all_bytes([chosen.home, chosen.folder])


def test_hooks_never_fail_the_turn(chosen: Project, tmp_path: Path) -> None:
    for event in EVENTS:
        for path in (str(tmp_path / "none.jsonl"), "", str(tmp_path)):
            done = chosen.hook(event, transcript_path=path, session_id="\ud83d/../x", prompt="a\0b", trigger="auto")
            assert done.code == 0, (event, done)


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
    for number, point in enumerate(range(6, 48, amount(3, 9)), 1):
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
        assert chosen.ask("show", f"K{number}")["summary"] == f"what hook {number} was told"


def test_secrets_are_masked(chosen: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    secret = "hunter2" + "hunter2"
    written.prompt(f"export DB_PASSWORD={secret} and go on")
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    chosen.decide(f"Use DB_PASSWORD={secret} for now")
    assert secret.encode() not in all_bytes([chosen.home, chosen.folder])


def test_with_another_tier_all_of_the_history_moves_there_and_back(
    chosen: Project, tmp_path: Path, write_settings: Callable[[str], None]
) -> None:
    written = Transcript("s")
    for number in range(5):
        written.turn(number)
    path = written.write(tmp_path / "s.jsonl")
    assert chosen.hook("PreCompact", transcript_path=str(path), trigger="auto").code == 0
    assert [chosen.decide("one"), chosen.decide("two")] == ["D1", "D2"]
    chosen.ask("save", "--highlight", "halfway", "--action", "go on")
    path.unlink()
    for tier, text in (("sqlite", "three"), ("json", "four"), ("sqlite", "five")):
        before = (chosen.run("export").out, chosen.run("export", "--items").out)
        write_settings(f'tier = "{tier}"\n')
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda _: chosen.run("export").out, range(4))) == [before[0]] * 4
        assert chosen.run("export", "--items").out == before[1]
        chosen.decide(text)
        assert len(chosen.archives) == (tier == "sqlite")
        assert len(list(chosen.data.rglob("history.jsonl"))) == (tier == "json")
    assert [item["id"] for item in chosen.ask("decision", "list")] == ["D1", "D2", "D3", "D4", "D5"]
    assert kept(chosen.export("s")) == said(written.content)
    assert chosen.ask("search", "five")[0]["ref"] == "D5"
    assert chosen.state()["summaries"]["pendingActions"] == ["go on"]
    assert archive_is_whole(chosen.archive)


def test_whoever_is_killed_while_the_history_moves_changes_nothing(
    chosen: Project, write_settings: Callable[[str], None]
) -> None:
    texts = []
    for number, point in enumerate(range(1, 40, amount(2, 8))):
        chosen.decide(f"decision {number}")
        texts.append(f"decision {number}")
        write_settings(f'tier = "{("sqlite", "json")[number % 2]}"\n')
        run_struck(command_struck_at(point, chosen.data, "decision", "list"), chosen.folder)
        assert [item["decision"] for item in chosen.ask("decision", "list")] == texts


def test_who_forgets_is_told_of_an_archive_that_is_not_looked_at(chosen: Project) -> None:
    chosen.decide("the swordfish")
    (path,) = chosen.data.rglob("history.jsonl")
    path.with_name("archive.db").write_bytes(b"from a backup")
    done = chosen.run("forget", "--match", "swordfish", "--yes")
    assert done.code == 0
    assert f"{path.with_name('archive.db')} was not searched: tier is json" in done.err

"""What unified-state itself causes in a session is no part of what the session is remembered by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .product import Project, all_restored, restored
from .transcripts import Transcript

DENIAL = "Constraint C1 forbids this"
USAGE = "Exit code 2\nusage: unified-state decision add\nunified-state decision add: error: --rationale is required"
NO_TOOL = "<tool_use_error>Error: No such tool available: memory_add</tool_use_error>"


@pytest.fixture
def noisy(project: Project, tmp_path: Path) -> Path:
    """A session in which each part of the product got into the transcript once."""
    rule = ("constraint", "add", "Never touch migrations", "--source", "me", "--scope", "path:migrations/**")
    assert project.at_terminal(*rule, "--mode", "deny").code == 0
    edit = {"file_path": str(project.folder / "migrations" / "a.sql"), "old_string": "a", "new_string": "b"}
    answer = json.loads(project.hook("PreToolUse", tool_name="Edit", tool_input=edit).out)
    denial = answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert denial.startswith(DENIAL)
    written = Transcript("s")
    written.prompt("Rename the column")
    written.call("Edit", edit, f"PreToolUse:Edit hook error: {denial}", error=True)
    written.call("Bash", {"command": "sed -i s/a/b/ migrations/a.sql"}, denial, error=True)
    written.call(
        "Bash", {"command": "unified-state recall S3"}, "Exit code 1\nunified-state: S3 has no lines", error=True
    )
    written.call("Bash", {"command": "unified-state decision add x | head"}, USAGE, error=True)
    written.call("mcp__unified-state__recall", {"ref": "D404"}, "there is no item D404", error=True)
    written.call("memory_add", {"a": 1}, NO_TOOL, error=True)
    written.compaction("We renamed it.", "manual")
    path = tmp_path / "s.jsonl"
    project.keep(written, path)
    return path


@pytest.mark.parametrize("kind", ["evidence", "attempt"])
def test_our_denials_usage_errors_and_tools_never_become_items(project: Project, noisy: Path, kind: str) -> None:
    assert project.ask(kind, "list", "--all") == []


def test_they_never_become_errors_failed_commands_or_identifiers_of_a_restore(project: Project, noisy: Path) -> None:
    told = all_restored(project, noisy)
    for noise in (
        "error: ",
        "PreToolUse",
        "hook error",
        "usage",
        "unified-state recall",
    ):
        assert noise not in told, told


def test_context_compact_is_answered_by_a_hook_in_ten_lines_and_asks_no_model(project: Project) -> None:
    for number in range(12):
        project.run("decision", "add", f"Decision {number}", "--rationale", "r")
    done = project.hook("UserPromptSubmit", prompt="/unified-state:context-compact the port\nand the host")
    answer = json.loads(done.out)
    assert answer["decision"] == "block"
    lines = answer["reason"].splitlines()
    assert lines[0] == "Saved. After a compaction this comes back:"
    assert lines[1] == "D12 (the user said): Decision 11"
    assert lines[9] == "… and 4 more"
    assert lines[11].startswith("/compact Keep exact paths, names, commands and errors, and these recorded items")
    assert lines[11].endswith("; the port and the host")
    assert project.state()["trigger"] == "manual"
    for prompt in ("/context-compacted", "look at /context-compact"):
        assert "block" not in project.hook("UserPromptSubmit", prompt=prompt).out


def test_the_user_sees_nothing_on_a_good_day_but_one_line_after_a_compaction(project: Project, tmp_path: Path) -> None:
    project.decide("Keep notes in SQLite")
    written, path = Transcript("s"), tmp_path / "s.jsonl"

    def seen(event: str, **fields: object) -> list[str]:
        given = {"transcript_path": str(written.write(path)), **fields}
        done = [
            project.hook(event, part, **given) for part in (("brief", "working_set") if "source" in fields else ("",))
        ]
        assert all(one.code == 0 for one in done)
        answers = [json.loads(one.out) for one in done if one.out.startswith("{")]
        return [line for answer in answers for line in answer.get("systemMessage", "").splitlines()]

    assert seen("SessionStart", source="startup") == []
    written.turn(1)
    assert seen("UserPromptSubmit", prompt="go on") + seen("Stop", last_assistant_message="Done.") == []
    assert project.run("drop", "D1", CLAUDECODE="1").code == 2  # an agent's proposal waits; the next start tells it
    assert seen("PreCompact", trigger="manual") == []
    written.compaction("The parser was written.")
    line = "The summary lost 1 recorded item; it came back. `unified-state show K1`"
    assert seen("SessionStart", source="compact") == [line]
    assert seen("UserPromptSubmit", prompt="go on") == []
    assert len(seen("SessionStart", source="resume")) == 1
    assert seen("SessionStart", source="clear") == []


@pytest.mark.parametrize("source", ["startup", "clear"])
def test_a_new_session_learns_what_the_last_one_did(project: Project, noisy: Path, source: str) -> None:
    assert project.hook("SessionEnd", reason=source, transcript_path=str(noisy)).code == 0
    told = restored(project, noisy.with_name("new.jsonl"), source=source, session_id="new")["brief"]
    assert "[LAST SESSION]" in told
    assert "last prompt: Rename the column" in told

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
COMMAND = "<command-message>context-compact</command-message>\n<command-name>/context-compact</command-name>"


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
    written.prompt(COMMAND)
    written.text("```\n/compact Keep exact paths, names, commands and errors\n```")
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
        "context-compact",
    ):
        assert noise not in told, told


@pytest.mark.parametrize("source", ["startup", "clear"])
def test_a_new_session_learns_what_the_last_one_did(project: Project, noisy: Path, source: str) -> None:
    assert project.hook("SessionEnd", reason=source, transcript_path=str(noisy)).code == 0
    told = restored(project, noisy.with_name("new.jsonl"), source=source, session_id="new")["brief"]
    assert "[LAST SESSION]" in told
    assert "last prompt: Rename the column" in told
    assert "context-compact" not in told

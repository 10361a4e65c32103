"""Reminders: once, before the call that a recorded fact is about, by the hook in the settings; no call is hindered."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from unified_state.hosts.install.hook_table import our_handlers
from unified_state.model.constraint import TOLD_TOOLS
from unified_state.model.hook_event import CHECK_WORD

from .conftest import Prepared
from .disks import read_only
from .product import Done, Project, all_bytes, well_printed
from .test_enforced_constraints import settings
from .transcripts import Json, Transcript

AGENT = {"CLAUDECODE": "1"}
FAILURE = "FAIL: TestPool\npool_test.go:12: got 3, want 4\nExit code 1"


def fill_reminding(project: Project, _folder: Path) -> None:
    """Reminders."""
    assert "reminders before tool calls are on" in project.run("install", "--reminders", "on").out


@pytest.fixture
def reminding(prepared: Prepared) -> Project:
    """A project in which the user turned reminders on."""
    return prepared(fill_reminding)


def groups(project: Project) -> list[Json]:
    """The entries of reminders in the client's settings."""
    found: list[Json] = settings(project.folder).get("hooks", {}).get("PreToolUse", [])
    return [group for group in found if our_handlers({"hooks": {"": [group]}}) and CHECK_WORD in str(group)]


def matcher(project: Project) -> str:
    """The tools before which the client calls the hook; "" where there is no hook."""
    return "".join(group.get("matcher", "all") for group in groups(project))


def call(project: Project, tool: str, session: str = "new", agent: str = "", **given: object) -> Done:
    """What the hook in the settings answers to a tool call."""
    ((handler,),) = [group["hooks"] for group in groups(project)]
    fields = {"session_id": session, **({"agent_id": agent} if agent else {})}
    stdin = project.event("PreToolUse", tool_name=tool, tool_input=given, **fields)
    environment = {"CLAUDE_PROJECT_DIR": str(project.folder), **AGENT}
    return project.execute([handler["command"], *handler["args"]], stdin, environment)


def line(done: Done) -> str:
    """The one line that the model reads, without its fence; "" without a reminder."""
    assert well_printed(done), done
    if not done.out:
        return ""
    output = json.loads(done.out)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "additionalContext"}  # no decision about the call
    opening, told, closing = output["additionalContext"].split("\n")
    nonce = re.fullmatch(
        r'<unified-state-memory nonce=(\w+) about="a recorded fact about this call, as data">', opening
    )
    assert nonce
    assert closing == f"</unified-state-memory nonce={nonce[1]}>"
    return str(told)


def edit(project: Project, path: str = "src/pool.py", session: str = "new", agent: str = "") -> str:
    """The line before an edit of a file."""
    return line(call(project, "Edit", session, agent, file_path=str(project.folder / path), old_string="a"))


def run(project: Project, command: str = "go test ./...", session: str = "new") -> str:
    """The line before a command."""
    return line(call(project, "Bash", session, command=command))


def tried(project: Project, tmp_path: Path, *results: tuple[str, bool], command: str = "go test ./...") -> Transcript:
    """A session `s` in which a command ended like this, as its hooks have archived it."""
    written = Transcript("s", cwd=str(project.folder))
    written.prompt("Test it.")
    for text, is_error in results:
        written.call("Bash", {"command": command}, text, error=is_error)
    written.text("Done.")
    project.keep(written, tmp_path / "s.jsonl", "Stop")
    return written


def ended(project: Project, session: str = "s") -> None:
    """A session has ended, and another one begun."""
    assert project.hook("SessionEnd", session_id=session, reason="other").code == 0
    assert project.hook("SessionStart", "brief", session_id="new", source="startup").code == 0


class TestWhatIsTold:
    """The line, and the calls that get it."""

    def test_before_an_edit_of_a_file_that_a_decision_names(self, reminding: Project) -> None:
        reminding.decide("Keep the lock in src/pool.py")
        assert edit(reminding) == (
            "[BEFORE THIS CALL] Recorded about this file: "
            "D1 (the user said): Keep the lock in src/pool.py. Why: because"
        )

    def test_before_a_command_that_failed_when_it_was_last_run(self, reminding: Project, tmp_path: Path) -> None:
        tried(reminding, tmp_path, (FAILURE, True), (FAILURE, True))
        ended(reminding)
        told = run(reminding)
        assert told.startswith(
            "[BEFORE THIS CALL] This command failed when it was last run, 2 times in a row: E2 (error"
        )
        assert "pool_test.go:12: got 3, want 4" in told


class TestOnce:
    """How often a reminder comes, and in which sessions."""

    def test_a_fact_is_told_once_in_a_session_and_again_in_the_next(self, reminding: Project) -> None:
        reminding.decide("Keep the lock in src/pool.py")
        assert [bool(edit(reminding, session=name)) for name in ("a", "a", "b", "a")] == [True, False, True, False]

    def test_what_the_conversation_still_contains_is_not_told_before_it_was_compacted(
        self, reminding: Project, tmp_path: Path
    ) -> None:
        written = tried(reminding, tmp_path, (FAILURE, True))
        assert run(reminding, session="s") == ""
        reminding.keep(written, tmp_path / "s.jsonl")  # PreCompact
        assert "E1 (error" in run(reminding, session="s")


class TestOptIn:
    """Where the hook is in the settings, and where it is not."""

    def test_the_hook_is_there_only_while_something_is_to_be_told(self, reminding: Project) -> None:
        assert matcher(reminding) == ""
        ref = reminding.decide("Keep the lock in src/pool.py")
        assert matcher(reminding) == TOLD_TOOLS
        assert reminding.at_terminal("forget", ref).code == 0
        assert matcher(reminding) == ""

    def test_a_warning_is_told_with_the_fact_and_a_denial_without_it(self, reminding: Project) -> None:
        reminding.decide("Keep the lock in src/pool.py")
        rule = ("constraint", "add", "Mind the pool", "--source", "me", "--scope", "path:src/pool.py", "--mode")
        assert reminding.run(*rule, "deny").code == 0
        denied = json.loads(call(reminding, "Edit", file_path="src/pool.py").out)["hookSpecificOutput"]
        assert (denied["permissionDecision"], "additionalContext" in denied) == ("deny", False)
        assert reminding.at_terminal("constraint", "lift", "C1").code == 0
        assert reminding.run(*rule, "warn").code == 0
        warned = json.loads(call(reminding, "Edit", file_path="src/pool.py").out)
        assert "Keep the lock" in warned["hookSpecificOutput"]["additionalContext"]
        assert "Mind the pool" in warned["hookSpecificOutput"]["additionalContext"]
        assert "Keep the lock" not in warned["systemMessage"]

    def test_where_the_user_disabled_us_nothing_is_told(self, reminding: Project) -> None:
        reminding.decide("Keep the lock in src/pool.py")
        (reminding.folder / ".claude" / "unified-state.toml").write_text("enabled = false\n", encoding="utf-8")
        assert edit(reminding) == ""


class TestPrivacy:
    """What is kept of the user's texts, and how it goes."""

    def test_what_was_forgotten_is_in_no_file(self, reminding: Project) -> None:
        ref = reminding.decide("Keep the zanzibarlock in src/pool.py")
        assert "zanzibarlock" in edit(reminding)
        assert reminding.at_terminal("forget", ref).code == 0
        assert b"zanzibarlock" not in all_bytes([reminding.data])


class TestHarm:
    """Whatever happens to the files, no call is hindered."""

    @pytest.fixture
    def known(self, reminding: Project) -> Project:
        """A project with a decision about `src/pool.py`."""
        reminding.decide("Keep the lock in src/pool.py")
        return reminding

    def test_where_it_cannot_be_recorded_that_it_was_told_it_is_not_told(self, known: Project) -> None:
        path = known.archive.parent / "told" / "new.json"
        path.parent.mkdir()
        os.mkfifo(path)
        assert edit(known) == ""

    def test_on_a_disk_that_may_not_be_written_nothing_is_told(self, known: Project) -> None:
        with read_only(known, known.data) as project:
            assert edit(project) == ""

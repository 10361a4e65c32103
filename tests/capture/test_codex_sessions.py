"""What is known of a session of Codex after its rollout was archived: files, outcomes, failures, the to-do list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import NOW
from tests.rollouts import Rollout, ended, patched
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import latest_compaction
from unified_state.archive.session_work import pending_actions
from unified_state.archive.sessions import session_number
from unified_state.archive.steps import recent_steps
from unified_state.capture.capture_transcript import Capture
from unified_state.ledger.item_table import list_items
from unified_state.model.hook_event import Moment
from unified_state.model.item import EVIDENCE, LedgerItem
from unified_state.model.known import Run, WorkingFile
from unified_state.restore.compose_restore import read_files
from unified_state.restore.rules.recent_work import recent_work
from unified_state.secrets.masker import Masker

SESSION = "codex:0a1b"
EDIT = "*** Update File: {}\n@@\n def take(bucket):\n-    old_rate = 1\n+    new_rate = 2"


class Codex:
    """A session of Codex in a folder, and what is known of it."""

    def __init__(self, folder: Path, archive: Archive, masker: Masker) -> None:
        self.root = folder / "shop"
        self.rollout = Rollout(folder / "rollout.jsonl", "0a1b", self.root)
        self.rollout.says("user", "make the limiter faster")
        self._archive, self._masker = archive, masker

    def archived(self) -> Archive:
        """The archive with all that was written."""
        Capture(self._archive, self._masker, Moment(NOW)).session(str(self.rollout.path), SESSION)
        return self._archive

    def working_set(self) -> tuple[WorkingFile, ...]:
        session = session_number(self.archived(), SESSION)
        assert session is not None
        return read_files(self._archive, session, str(self.root))

    def file(self, path: str) -> WorkingFile:
        (found,) = [file for file in self.working_set() if file.path == path]
        return found

    def runs(self) -> list[Run]:
        session = session_number(self.archived(), SESSION)
        assert session is not None
        return list(recent_work(recent_steps(self._archive, session, 100), str(self.root)).runs)

    def ran(self, command: str) -> Run:
        (found,) = [ran for ran in self.runs() if ran.command == command]
        return found

    def items(self, kind: str) -> list[LedgerItem]:
        return [item for item in list_items(self.archived()) if item.kind == kind]


@pytest.fixture
def codex(tmp_path: Path, archive: Archive, masker: Masker) -> Codex:
    return Codex(tmp_path, archive, masker)


def test_a_patch_gives_files_with_their_identifiers_by_their_paths_in_the_repository(codex: Codex) -> None:
    codex.rollout.patches(EDIT.format(codex.root / "src" / "limiter.py"))
    found = codex.file("src/limiter.py")
    assert set(found.words) == {"new_rate"}  # the patch takes the old one away
    assert found.is_used


@pytest.mark.parametrize("tool", ["exec_command", "shell", "local_shell", "argv"])
def test_a_patch_in_a_shell_command_gives_them_too(codex: Codex, tool: str) -> None:
    patch = patched(EDIT.format("src/limiter.py"))
    line = f"apply_patch <<'EOF'\n{patch}\nEOF"
    match tool:
        case "exec_command":
            codex.rollout.runs(line, "Success.")
        case "shell":
            codex.rollout.calls("shell", ended(""), command=["bash", "-lc", line], workdir=str(codex.root))
        case "argv":
            codex.rollout.calls("shell", ended(""), command=["apply_patch", patch], workdir=str(codex.root))
        case "local_shell":
            action = {"type": "exec", "command": ["bash", "-lc", line], "working_directory": str(codex.root)}
            codex.rollout.line(type="local_shell_call", call_id="l1", status="completed", action=action)
    assert codex.file("src/limiter.py").is_used
    assert codex.runs() == []


def test_a_deleted_and_a_moved_file_are_gone_and_the_new_name_is_known(codex: Codex) -> None:
    move = "*** Update File: old.py\n*** Move to: new.py\n@@\n-a_name\n+b_name"
    codex.rollout.patches(f"*** Delete File: src/limiter.py\n{move}")
    assert codex.file("src/limiter.py").gone == "deleted"
    assert codex.file("old.py").gone == "moved to new.py"
    assert codex.file("new.py").gone == ""


def test_a_patch_that_failed_is_evidence_until_the_file_is_patched(codex: Codex) -> None:
    failed = "apply_patch verification failed: Failed to find expected lines in src/limiter.py:\nold_rate"
    codex.rollout.patches(EDIT.format("src/limiter.py"), failed)
    (item,) = codex.items(EVIDENCE)
    assert (item.status, item.files, item.body["source"]) == (
        "active",
        ("src/limiter.py",),
        "apply_patch: src/limiter.py",
    )
    codex.rollout.patches(EDIT.format("src/limiter.py"))
    assert [item.status for item in codex.items(EVIDENCE)] == ["resolved"]


@pytest.mark.parametrize(
    "output",
    [
        ended("tests ran\n2 failed", 1),
        "Exit code: 1\nWall time: 2 seconds\nTotal output lines: 2\nOutput:\ntests ran\n2 failed",
        '{"output":"tests ran\\n2 failed","metadata":{"exit_code":1,"duration_seconds":2.0}}',
        {"content": "Exit code 1\ntests ran\n2 failed", "success": False},
    ],
)
def test_a_command_has_its_outcome_in_each_form(codex: Codex, output: object) -> None:
    codex.rollout.calls("shell_command", output, command="make test")
    ran = codex.ran("make test")
    assert (ran.failed, ran.last) == (True, "2 failed")
    (item,) = codex.items(EVIDENCE)
    assert item.body == {"type": "error", "content": "Exit code 1\ntests ran\n2 failed", "source": "Bash: make test"}


def test_the_outcome_of_a_command_that_ran_on_is_the_commands_own(codex: Codex) -> None:
    codex.rollout.calls(
        "exec_command", "Chunk ID: 1\nProcess running with session ID 42\nOutput:\nbuilding", cmd="make test"
    )
    assert codex.ran("make test").goes_on
    codex.rollout.calls("write_stdin", "Process running with session ID 42\nOutput:\n", session_id=42, chars="")
    codex.rollout.calls("write_stdin", ended("2 failed", 1), session_id=42, chars="")
    ran = codex.ran("make test")
    assert (ran.failed, ran.last) == (True, "2 failed")
    assert [item.body["source"] for item in codex.items(EVIDENCE)] == ["Bash: make test"]


def test_the_agents_plan_is_its_todo_list(codex: Codex) -> None:
    plan = [{"step": "measure", "status": "completed"}, {"step": "cache", "status": "in_progress"}]
    codex.rollout.calls("update_plan", "Plan updated", plan=plan)
    archive = codex.archived()
    (action,) = pending_actions(archive, session_number(archive, SESSION), 5)
    assert "cache" in action


def test_of_an_encrypted_summary_what_the_user_said_is_kept(codex: Codex) -> None:
    codex.rollout.compacts("make the limiter faster", "<environment_context>\n  <cwd>/x</cwd>")
    session = session_number(codex.archived(), SESSION)
    assert session is not None
    compaction = latest_compaction(codex.archived(), session)
    assert compaction is not None
    assert compaction.summary is not None
    assert compaction.summary.endswith("texts of the user:\n\nmake the limiter faster")

"""A session of one host is found and continued in another: Codex's in Claude Code, and Claude Code's in Codex."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rollouts import Rollout

from .product import Done, Project
from .transcripts import Transcript

ROOT = Path(__file__).parents[2]
CODE = "import sys;sys.path.append(sys.argv.pop(1));from unified_state.interfaces.host_hook import main;main()"
OLD, NEW = "def take(bucket): return old_rate", "def take(bucket): return new_rate"


def codex_hook(project: Project, event: str, session_id: str = "0a1b", **fields: Any) -> str:
    """What a hook of Codex says."""
    command = [sys.executable, "-I", "-S", "-c", CODE, str(ROOT), "codex", event]
    done: Done = project.execute(command, project.event(event, session_id=session_id, **fields), {})
    assert (done.code, done.err, project.log()) == (0, "", "")
    return str(json.loads(done.out)["hookSpecificOutput"]["additionalContext"]) if done.out else ""


def claude_start(project: Project, session_id: str) -> str:
    """All that Claude Code is told at the start of a session."""
    parts = [
        project.hook("SessionStart", part, session_id=session_id, source="startup") for part in ("brief", "working_set")
    ]
    assert [(done.code, done.err) for done in parts] == [(0, "")] * 2
    return "\n".join(done.out for done in parts)


@pytest.fixture
def rollout(project: Project) -> Rollout:
    """A session of Codex that patched a file, moved one, decided, ran the tests, and ended with a failure."""
    rollout = Rollout(project.home / ".codex" / "sessions" / "rollout.jsonl", "0a1b", project.folder)
    codex_hook(project, "SessionStart", source="startup", transcript_path=str(rollout.path))
    rollout.says("user", "Make the limiter fair to small tenants")
    rollout.patches(f"*** Update File: {project.folder}/src/limiter.py\n@@\n-{OLD}\n+{NEW}")
    rollout.patches("*** Update File: src/old.py\n*** Move to: src/queue.py\n@@\n-a_name\n+b_name")
    decide = ("decision", "add", "Refill buckets lazily", "--rationale", "fewer timers")
    assert project.run(*decide, CODEX_THREAD_ID="0a1b").code == 0
    rollout.runs("make test", "FAIL: test_small_tenant: starved after 3 rounds", 2)
    rollout.says("assistant", "The small tenant still starves; next I look at the refill.")
    write_edited(project)
    codex_hook(project, "Stop", transcript_path=str(rollout.path))
    return rollout


def write_edited(project: Project) -> None:
    """Write the files as the edits of a session leave them."""
    folder = project.folder / "src"
    folder.mkdir()
    (folder / "limiter.py").write_text(f"{NEW}\n", encoding="utf-8")
    (folder / "queue.py").write_text("b_name\n", encoding="utf-8")


@pytest.mark.usefixtures("rollout")
def test_claude_code_continues_what_codex_did(project: Project) -> None:
    told = claude_start(project, "c1")
    assert "[LAST SESSION] in Codex (codex:0a1b)" in told
    assert "Refill buckets lazily" in told
    assert "src/limiter.py: " in told
    assert "new_rate" in told
    assert "src/old.py (moved to src/queue.py)" in told
    assert "$ make test -> failed: FAIL: test_small_tenant: starved after 3 rounds" in told
    assert "Make the limiter fair to small tenants" in told
    assert "next I look at the refill" in told


def test_codex_continues_what_claude_code_did(project: Project) -> None:
    written = Transcript("c1", cwd=str(project.folder))
    written.prompt("Make the limiter fair to small tenants")
    edit = {"file_path": f"{project.folder}/src/limiter.py", "old_string": OLD, "new_string": NEW}
    written.call("Edit", edit, "updated")
    written.call("Bash", {"command": "make test"}, "Exit code 2\nstarved after 3 rounds", error=True)
    written.text("The small tenant still starves; next I look at the refill.")
    project.decide("Refill buckets lazily")
    write_edited(project)
    project.keep(written, project.home / "c1.jsonl", "Stop")
    told = codex_hook(project, "SessionStart", source="startup")
    assert "[LAST SESSION] in Claude Code (c1)" in told
    for words in ("Refill buckets lazily", "src/limiter.py: ", "new_rate", "starved after 3 rounds", "refill."):
        assert words in told

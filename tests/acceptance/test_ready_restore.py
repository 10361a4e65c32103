"""The restore that is composed with the summary: it is printed as it is, or composed anew when anything changed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.amount import amount

from .product import Project, all_bytes, hook_command, restored
from .striking import hook_struck_at, run_struck
from .transcripts import Transcript

pytestmark = pytest.mark.usefixtures("own_interpreters")

SUMMARY = "<summary>We went on with the limits.</summary>"
PARTS = ("brief", "working_set")
EVERY = amount(1, 3)  # point at which a hook is killed


class Session:
    """A session of a project, up to its summary."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project, self.path, self.written = project, path, Transcript("s", cwd=str(project.folder))
        self.written.prompt("Add a rate limit to limiter.py, and never touch the health route.")
        edit = {"file_path": str(project.folder / "limiter.py"), "old_string": "a", "new_string": "b"}
        self.written.call("Edit", edit, "The file was updated.")
        self.written.text("The limit is 42 requests a second.")
        self.written.write(path)

    def compact(self, summary: str = SUMMARY) -> None:
        self.project.keep(self.written, self.path)
        done = self.project.hook("SubagentStop", **self.summary(summary))
        assert (done.code, self.project.log()) == (0, "")

    def summary(self, summary: str = SUMMARY) -> dict[str, str]:
        return {"transcript_path": str(self.path), "agent_type": "", "agent_id": "c", "last_assistant_message": summary}

    def restored(self) -> dict[str, str]:
        return restored(self.project, self.path)

    def nonces(self) -> set[str]:
        """The nonces of the texts that were composed."""
        with closing(sqlite3.connect(self.project.archive)) as archive:
            return {nonce for (nonce,) in archive.execute("SELECT nonce FROM restore")}


@pytest.fixture
def session(project: Project, tmp_path: Path) -> Session:
    project.decide("Keep sessions in SQLite")
    made = Session(project, tmp_path / "s.jsonl")
    made.compact()
    return made


def test_session_start_prints_what_was_composed_with_the_summary(session: Session) -> None:
    ready = session.nonces()
    told = session.restored()
    assert len(ready) == 2
    assert session.nonces() == ready
    assert all(any(nonce in text for nonce in ready) for text in told.values())
    assert "Keep sessions in SQLite" in told["brief"]
    assert "42 requests" in "".join(told.values())


def test_it_says_what_composing_it_now_would_say(session: Session) -> None:
    ready = session.restored()
    with closing(sqlite3.connect(session.project.archive)) as archive, archive:
        archive.execute("DELETE FROM meta WHERE name = 'ready restore'")
    now = session.restored()
    assert [_lines(ready[part]) for part in PARTS] == [_lines(now[part]) for part in PARTS]


def test_the_user_reads_once_what_the_summary_kept(session: Session) -> None:
    outputs = [session.project.hook("SessionStart", part, source="compact").out for part in (*PARTS, "brief")]
    assert [("summary kept" in output) for output in outputs] == [True, False, False]


def test_nothing_stale_is_told_whatever_changed_since_the_summary(
    session: Session, git: Callable[..., str], tmp_path: Path
) -> None:
    project = session.project
    project.decide("Use port 8081")
    assert "Use port 8081" in session.restored()["brief"]
    session.compact()
    project.run("decision", "reject", "D1")
    elsewhere = tmp_path / "elsewhere"
    git("worktree", "add", "--quiet", str(elsewhere))
    Project(elsewhere, project.home).decide("Another worktree decides this")
    assert "Another worktree decides this" in session.restored()["brief"]
    session.compact()
    session.written.text("One more word before the restore.")
    session.written.write(session.path)
    assert "One more word" in "".join(session.restored().values())


def test_other_work_is_told(session: Session) -> None:
    assert session.project.run("work", "set", "--phase", "testing").code == 0
    assert "phase testing" in session.restored()["brief"]


def test_a_rule_that_is_taken_back_at_an_earlier_time_is_not_told(session: Session) -> None:
    assert "never touch the health route" in session.restored()["brief"]
    with closing(sqlite3.connect(session.project.archive)) as archive, archive:
        archive.execute("UPDATE item SET status = 'dismissed', changed_at = '2000-01-01' WHERE kind = 'constraint'")
    assert "never touch the health route" not in session.restored()["brief"].partition("[LAST TURNS]")[0]


def test_of_two_summaries_only_the_restore_of_the_last_is_kept(session: Session) -> None:
    ready = session.nonces()
    done = session.project.hook("SubagentStop", **session.summary("<summary>Another summary.</summary>"))
    assert done.code == 0
    assert len(session.nonces()) == 2
    assert session.nonces().isdisjoint(ready)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"state": 1}', "\ud7ff"])
def test_what_is_recorded_of_it_may_be_damaged(session: Session, damage: str) -> None:
    with closing(sqlite3.connect(session.project.archive)) as archive, archive:
        archive.execute("UPDATE meta SET value = ? WHERE name = 'ready restore'", (damage,))
    assert "Keep sessions in SQLite" in session.restored()["brief"]


def test_another_commit_or_index_has_it_composed_anew(session: Session, git: Callable[..., str]) -> None:
    ready = session.nonces()
    (session.project.folder / "new.py").write_text("x\n", encoding="utf-8")
    git("add", "new.py")
    session.restored()
    assert len(session.nonces() - ready) == 2
    assert session.nonces().isdisjoint(ready)
    session.compact()
    ready = session.nonces()
    git("commit", "--quiet", "--message", "second")
    session.restored()
    assert len(session.nonces() - ready) == 2


def test_a_name_that_a_commit_took_away_since_the_summary_is_told_as_gone(
    session: Session, git: Callable[..., str]
) -> None:
    project = session.project
    limiter = project.folder / "limiter.py"
    limiter.write_text("def token_bucket(): ...\n", encoding="utf-8")
    edit = {"file_path": str(limiter), "old_string": "b", "new_string": "def token_bucket(): ..."}
    session.written.call("Edit", edit, "The file was updated.")
    git("add", "limiter.py")
    session.compact()
    assert "limiter.py: token_bucket" in session.restored()["working_set"]
    limiter.write_text("def leaky_bucket(): ...\n", encoding="utf-8")
    git("commit", "--quiet", "--all", "--message", "another bucket")
    told = session.restored()["working_set"]
    assert "limiter.py: token_bucket" not in told
    assert "not in them now: token_bucket (limiter.py)" in told
    git("rm", "--quiet", "limiter.py")
    assert "limiter.py (gone)" in session.restored()["working_set"]


def test_what_is_forgotten_is_gone_from_it(session: Session) -> None:
    session.compact("<summary>The word is flumadiddle.</summary>")
    assert session.project.at_terminal("forget", "--session", "s").code == 0
    assert b"flumadiddle" not in all_bytes([session.project.data])
    assert "42 requests" not in "".join(session.restored().values())


def test_a_hook_killed_while_it_makes_it_ready_costs_nothing(session: Session, tmp_path: Path) -> None:
    session.project.decide("Use port 8081")
    event, point, status = session.project.event("SubagentStop", **session.summary()), 1 - EVERY, -9
    while status:
        point += EVERY
        session.project.keep(session.written, session.path)
        command = hook_struck_at(point, tmp_path, hook_command("SubagentStop"))
        status = run_struck(command, session.project.folder, event)
        told = session.restored()
        assert "Use port 8081" in told["brief"]
        assert "42 requests" in "".join(told.values())
    assert point > 5


def test_a_restore_of_another_size_is_composed_anew(session: Session) -> None:
    ready = session.nonces()
    folder = session.project.home / ".config" / "unified-state"
    os.makedirs(folder)
    (folder / "config.toml").write_text("restore_tokens = 300\n", encoding="utf-8")
    session.restored()
    assert len(session.nonces() - ready) == 2


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if "unified-state-memory" not in line and "CONTEXT RESTORED" not in line]

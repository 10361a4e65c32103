"""What earlier systems did not archive, archived twice or deleted again: each test is a promise that one broke."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from .product import Project, hook_command
from .reading import kept, said
from .transcripts import Transcript


def prompts(project: Project, session: str = "s") -> list[str]:
    """The texts that the archive takes for the user's own."""
    return [line["text"] for line in project.export(session) if line["kind"] == "prompt"]


def test_a_ref_names_the_same_turn_for_ever_while_the_session_grows(project: Project, tmp_path: Path) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    written.turn(1)
    project.keep(written, path)
    before = [(line["ref"], line["uuids"]) for line in project.export("s")]
    turn = project.ask("show", "T1")
    for number in range(2, 12):
        written.turn(number)
        project.keep(written, path, "UserPromptSubmit")
    assert [(line["ref"], line["uuids"]) for line in project.export("s")][: len(before)] == before
    assert project.ask("show", "T1") == turn


def test_the_last_message_is_kept_once_though_the_transcript_lags_behind_at_stop(
    project: Project, tmp_path: Path
) -> None:
    written, path = _stopped(project, tmp_path, os.getpid())
    written.text("All done.", timestamp=datetime.now(UTC).isoformat())
    project.keep(written, path, "UserPromptSubmit")
    with closing(sqlite3.connect(project.archive)) as archive:
        assert archive.execute("SELECT count(*) FROM note").fetchone() == (0,)
    _start_another_session(project)
    assert kept(project.export("s")) == said(written.content)


def test_the_last_message_is_kept_once_though_the_client_was_killed_before_it_wrote_it(
    project: Project, tmp_path: Path
) -> None:
    client = subprocess.Popen([sys.executable, "-c", ""])
    client.wait()
    _stopped(project, tmp_path, client.pid)
    for _ in range(2):
        _start_another_session(project)
        assert [line["text"] for line in project.export("s")] == ["and?", "All done."]


def _stopped(project: Project, folder: Path, client: int) -> tuple[Transcript, Path]:
    """A session whose client, a process, told twice that a turn ended and has not written the last message."""
    written, path = Transcript("s"), folder / "s.jsonl"
    written.prompt("and?")
    written.write(path)
    for event in ("SessionStart", "Stop", "Stop"):
        stdin = project.event(event, transcript_path=str(path), last_assistant_message="All done.")
        assert project.execute(hook_command(event), stdin, {"CLAUDE_PID": str(client)}).code == 0
    return written, path


def _start_another_session(project: Project) -> None:
    assert project.hook("SessionStart", "brief", session_id="t", source="startup").code == 0


def test_equal_turns_are_all_kept_in_one_session_and_across_sessions(project: Project, tmp_path: Path) -> None:
    for name in ("s", "t"):
        written = Transcript(name)
        for _ in range(3):
            written.prompt("continue")
            written.text("Done.")
        project.keep(written, tmp_path / f"{name}.jsonl")
    assert [prompts(project, name) for name in ("s", "t")] == [["continue"] * 3] * 2


def test_nothing_is_ever_deleted_by_age_by_use_or_by_the_number_of_compactions(
    project: Project, tmp_path: Path
) -> None:
    """30 compactions, turns of years ago, a context that is nearly full, and the seeds' settings for deleting."""
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    full = {"input_tokens": 4, "cache_read_input_tokens": 199_000, "output_tokens": 900}
    for number in range(5):
        message = {"role": "user", "content": f"years ago {number}"}
        written.entry("user", message=message, timestamp="2020-01-01T00:00:00.000Z")
        answer = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "usage": full}
        written.entry("assistant", message=answer, timestamp="2020-01-01T00:00:01.000Z")
    project.keep(written, path)
    names = ("RETENTION_DAYS", "AUTO_OPTIMIZE", "AUTOPILOT_PRUNE", "CONTEXT_WINDOW")
    variables = {f"CLAUDE_FLOW_{name}": "1" for name in names}
    for number in range(30):
        event = "PreCompact" if number % 2 else "UserPromptSubmit"
        done = project.execute(hook_command(event), project.event(event, transcript_path=str(path)), variables)
        assert done.code == 0
    assert kept(project.export("s")) == said(written.content)

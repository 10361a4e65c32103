"""Files of JSON on a disk that is full or may not be written to: commands say so, hooks are silent, nothing is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .disks import full_disk, read_only
from .product import Project, told_in_one_line, well_printed
from .reading import kept, said
from .transcripts import Transcript

PAGE = 4096
HOOKS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SubagentStop", "PostCompact", "SessionEnd")
WAITS = ("decision", "add", "while it cannot be written", "--rationale", "r")
CHANGES = (
    ("save", "--highlight", "while it cannot be written"),
    ("question", "resolve", "Q1", "8081"),
    ("forget", "D1", "--yes"),
    ("forget", "--older-than", "2026-01-01", "--yes"),
)
READINGS: tuple[tuple[str, ...], ...] = (
    ("decision", "list"),
    ("search", "before"),
    ("show", "D1"),
    ("load",),
    ("export",),
)


@pytest.fixture
def known(project: Project, write_settings: Callable[[str], None], tmp_path: Path) -> Project:
    """A project with a decision, a question and a step of long ago, in files of JSON."""
    write_settings('tier = "json"\n')
    project.decide("before")
    project.ask("question", "add", "Which port?", "--context", "8080 is taken")
    old = Transcript("old")
    old.entry("user", message={"role": "user", "content": "long ago"}, timestamp="2025-01-01T00:00:00.000Z")
    assert (
        project.hook("PreCompact", transcript_path=str(old.write(tmp_path / "old.jsonl")), session_id="old").code == 0
    )
    return project


def harmless(project: Project, path: str) -> None:
    """Check that no hook does harm."""
    for event in HOOKS:
        part = "brief" if event == "SessionStart" else ""
        done = project.hook(event, part, transcript_path=path, trigger="auto", source="compact")
        assert done.code == 0, (event, done)
        assert event == "PreCompact" or well_printed(done), (event, done)


@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_commands_say_so_and_all_of_it_is_there_when_there_is_room_again(
    known: Project, tmp_path: Path, trouble: str
) -> None:
    written = Transcript("s")
    for number in range(10):
        written.turn(number, size=4000)
    path = str(written.write(tmp_path / "s.jsonl"))
    fill_page(known)
    before = [known.run(*arguments).out for arguments in READINGS]
    with full_disk(known, known.home) if trouble == "full" else read_only(known, known.data) as project:
        for arguments in CHANGES:
            assert told_in_one_line(done := project.run(*arguments)), (arguments, done)
        assert "joins the archive once that can be used" in project.run(*WAITS).err
        harmless(project, path)
        assert [project.run(*arguments).out for arguments in READINGS] == before
        assert project.run("status").code == 0
        if trouble == "full":
            subprocess.run([*project.prefix, "rm", str(project.home / "ballast")], check=True)
            goes_on(project, written, path)
    if trouble == "read-only":
        goes_on(known, written, path)


def fill_page(project: Project) -> None:
    """Let no page of the disk that the journal has already take any more."""
    (path,) = project.data.rglob("history.jsonl")
    *lines, last = path.read_bytes().splitlines(keepends=True)
    content = b"".join(lines)
    path.write_bytes(content + b"\n" * (-len(content + last) % PAGE) + last)


def goes_on(project: Project, written: Transcript, path: str) -> None:
    """Check that all of it is there, once it can be written."""
    assert project.decide("after") == "D3"
    assert len(project.ask("decision", "list")) == 3
    assert project.hook("PreCompact", transcript_path=path).code == 0
    assert kept(project.export("s")) == said(written.content)

"""A disk that is full or may not be written to: hooks stay silent, commands say it in one line, nothing is lost.

Where it is the disk of the archive, what was to go there is kept beside the state file until there is room.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .disks import full_disk, read_only
from .namespaces import in_folder, mounted
from .product import Done, Project, told_in_one_line, well_printed
from .reading import kept, said
from .transcripts import Transcript

HOOKS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SubagentStop", "SessionEnd")
CHANGES = (
    ("decision", "add", "while it cannot be written", "--rationale", "r"),
    ("save", "--highlight", "while it cannot be written"),
    ("question", "resolve", "Q1", "8081"),
)


@pytest.fixture
def session(tmp_path: Path) -> tuple[Transcript, str]:
    """A session and the path of its transcript."""
    written = Transcript("s")
    for number in range(10):
        written.turn(number, size=4000)
    return written, str(written.write(tmp_path / "s.jsonl"))


@pytest.fixture
def known(project: Project) -> Project:
    """A project in which something is recorded already."""
    project.decide("before")
    project.ask("question", "add", "Which port?", "--context", "8080 is taken")
    return project


def test_on_a_full_disk_what_is_new_waits_elsewhere_and_all_is_in_the_archive_when_there_is_room_again(
    known: Project, session: tuple[Transcript, str]
) -> None:
    written, path = session
    with full_disk(known, known.home) as project:
        _is_kept_elsewhere(project)
        _hooks_do_no_harm(project, path)
        assert [item["decision"] for item in project.ask("decision", "list")] == ["before"]
        assert "is not taken into the archive yet" in project.run("decision", "list").err
        subprocess.run([*project.prefix, "rm", str(project.home / "ballast")], check=True)
        assert project.decide("after") == "D3"
        shown = [item["decision"] for item in project.ask("decision", "list")]
        assert shown == ["before", "while it cannot be written", "after"]
        assert project.hook("PreCompact", transcript_path=path).code == 0
        assert kept(project.export("s")) == said(written.content)


def test_what_is_recorded_while_the_project_s_disk_is_full_is_in_the_state_file_later(known: Project) -> None:
    with full_disk(known, known.folder) as project:
        recorded = _try_all(project)
        subprocess.run([*project.prefix, "rm", str(project.folder / "ballast")], check=True)
        assert project.run("load").code == 0
        shown = subprocess.run([*project.prefix, "cat", str(project.state_path)], capture_output=True, check=True)
        assert (b"while it cannot be written" in shown.stdout) == recorded


def test_in_a_project_that_cannot_be_written_to_sessions_are_archived_all_the_same(
    project: Project, session: tuple[Transcript, str]
) -> None:
    written, path = session
    with read_only(project, project.folder) as bound:
        _hooks_do_no_harm(bound, path)
        assert kept(bound.export("s")) == said(written.content)


def test_with_a_data_folder_that_can_no_longer_be_written_to_all_goes_on_elsewhere_and_no_second_archive_is_begun(
    known: Project, session: tuple[Transcript, str]
) -> None:
    written, path = session
    with read_only(known, known.data) as project:
        _is_kept_elsewhere(project)
        _hooks_do_no_harm(project, path)
        assert [item["id"] for item in project.ask("decision", "list")] == ["D1"]
    assert known.decide("after") == "D3"
    assert len(known.archives) == 1
    assert list(known.folder.rglob("*.db")) == list(known.folder.rglob("*.jsonl")) == []
    assert known.hook("PreCompact", transcript_path=path).code == 0
    assert kept(known.export("s")) == said(written.content)


def test_without_a_home_variable_that_of_the_account_is_used(project: Project, session: tuple[Transcript, str]) -> None:
    with homeless(project, f"root:x:0:0::{project.home}:/bin/sh\n", str(project.home)) as without:
        _works(without, session)
    assert len(project.archives) == 1


def test_without_any_home_the_archive_lies_beside_the_state_file(
    project: Project, session: tuple[Transcript, str]
) -> None:
    """As in a container that runs under a number without an account."""
    with homeless(project, "", "~") as without:
        _works(without, session)
    assert sorted(path.name for path in project.folder.iterdir()) == [".claude", ".git", "a.py"]


@contextmanager
def homeless(project: Project, accounts: str, home: str) -> Iterator[Project]:
    """The project without $HOME, on a system with other accounts, where `~` stands for `home`."""
    passwd = project.folder.parent / "passwd"
    passwd.write_text(accounts, encoding="utf-8")
    script = (
        f"mount --bind {passwd} /etc/passwd; test ! -e /etc/nsswitch.conf || mount --bind /dev/null /etc/nsswitch.conf"
    )
    with mounted(script) as prefix:
        unset = ("env", "--unset", "HOME")
        without = Project(project.folder, project.home, (*in_folder(prefix, str(project.folder)), *unset))
        told = without.execute([sys.executable, "-c", "import os; print(os.path.expanduser('~'))"], "", {})
        assert told.out.strip() == home, "the test would write into somebody's real home"
        yield without


def _works(project: Project, session: tuple[Transcript, str]) -> None:
    written, path = session
    _hooks_do_no_harm(project, path)
    assert project.decide("without a home") == "D1"
    assert kept(project.export("s")) == said(written.content)


def test_a_damaged_archive_that_cannot_be_set_aside_loses_nothing(
    known: Project, session: tuple[Transcript, str]
) -> None:
    written, path = session
    known.archive.write_bytes(b"garbage" * 10_000)
    with read_only(known, known.data) as project:
        _is_kept_elsewhere(project)
        _hooks_do_no_harm(project, path)
    assert known.decide("after")
    assert known.hook("PreCompact", transcript_path=path).code == 0
    assert kept(known.export("s")) == said(written.content)
    shown = [item["decision"] for item in known.ask("decision", "list")]
    assert sorted(shown) == ["after", "before", "while it cannot be written"]


def test_where_nothing_can_be_written_anywhere_commands_say_so(known: Project, session: tuple[Transcript, str]) -> None:
    _, path = session
    with read_only(known, known.data, known.folder) as project:
        for arguments in CHANGES:
            assert told_in_one_line(done := project.run(*arguments)), done
        _hooks_do_no_harm(project, path)
    assert known.decide("after") == "D2"


def _is_kept_elsewhere(project: Project) -> None:
    """What is new waits, which is said in one line; all else is refused."""
    decide, *others = CHANGES
    done = project.run(*decide)
    assert (done.code, done.err.count("\n")) == (0, 1), done
    assert "joins the archive once that can be used" in done.err
    for arguments in others:
        assert told_in_one_line(done := project.run(*arguments)), done


def _hooks_do_no_harm(project: Project, path: str) -> None:
    for event in HOOKS:
        part = "brief" if event == "SessionStart" else ""
        done = project.hook(event, part, transcript_path=path, trigger="auto", source="compact")
        assert done.code == 0, (event, done)
        assert event == "PreCompact" or well_printed(done), (event, done)


def _try_all(project: Project) -> bool:
    """Whether the decision was recorded, after every command either did its work or said in one line why not."""
    ends: list[Done] = [project.run(*arguments) for arguments in CHANGES]
    for done in ends:
        assert told_in_one_line(done) or (done.code == 0 and done.err.count("\n") <= 1), done
    recorded = [item["decision"] for item in project.ask("decision", "list")]
    assert recorded == ["before", *(["while it cannot be written"] if ends[0].code == 0 else [])]
    return ends[0].code == 0

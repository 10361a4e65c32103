"""Files that a newer version wrote are refused without harm: nothing in them changes, what happens meanwhile is kept
elsewhere, and joins them once the newer version runs again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from unified_state.lib.package import upgrade_line

from .product import Done, Project, told_in_one_line
from .reading import kept, said
from .transcripts import Transcript

# The command line of a version whose archive has one more migration.
NEWER = """
import sys
from unified_state.archive import archive
from unified_state.archive.schema import archive_schema
def add_moods(connection):
    connection.execute("CREATE TABLE later (x)")
    connection.execute("INSERT INTO later VALUES (1)")
    connection.execute("ALTER TABLE item ADD COLUMN mood TEXT")
    connection.execute("ALTER TABLE step ADD COLUMN mood TEXT")
archive_schema.MIGRATIONS += (add_moods,)
archive.ARCHIVE_VERSION += 1
from unified_state.interfaces.cli.main import main
main(sys.argv[1:])
"""
READING = [
    *(["status"], ["load"], ["search", "cache"], ["show", "D1"], ["show", "T1"], ["decision", "list"], ["export"]),
    *(
        ["export", "--items"],
        ["show", "--source", "D1"],
        ["preview"],
        ["compactions"],
        ["inbox"],
        ["scan"],
        ["validate"],
        ["age"],
    ),
]
WRITING = [
    ["forget", "D1", "--yes"],
    ["forget", "--match", "one", "--yes"],
    ["forget", "--older-than", "2026-11-22", "--yes"],
    ["save"],
    ["work", "set", "--title", "meanwhile"],
]
RECORDING = ["decision", "add", "meanwhile", "--rationale", "r"]


class Upgraded:
    """A project in which a newer version worked."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project, self.path, self.written = project, path, Transcript("s")
        assert project.run("install").code == 0
        self.go_on()
        self.newer("decision", "add", "one", "--rationale", "because")
        self.newer("import", str(path))

    def go_on(self) -> None:
        """Another turn of the session."""
        self.written.turn(len(self.written.lines))
        self.written.write(self.path)

    def newer(self, *arguments: str) -> Done:
        """Run a command of the newer version, which must go well."""
        done = self.project.execute([sys.executable, "-c", NEWER, *arguments], "", {})
        assert done.code == 0, done
        return done

    def hook(self, event: str, part: str = "") -> Done:
        """Run a hook of this version."""
        return self.project.hook(event, part, transcript_path=str(self.path), source="compact", trigger="auto")

    def digest(self) -> str:
        """What the archive's bytes are."""
        return sha256(self.project.archive.read_bytes()).hexdigest()


@pytest.fixture
def upgraded(project: Project, tmp_path: Path) -> Upgraded:
    """A project in which a newer version worked."""
    return Upgraded(project, tmp_path / "s.jsonl")


def test_no_command_changes_a_newer_version_s_archive_and_each_says_what_to_do(upgraded: Upgraded) -> None:
    project, before = upgraded.project, upgraded.digest()
    for command in READING + WRITING:
        done = project.at_terminal(*command) if command in WRITING else project.run(*command)
        assert upgraded.digest() == before, command
        assert told_in_one_line(done), (command, done)
        assert f"upgrade unified-state: {upgrade_line()}" in done.err, (command, done)
    done = project.run(*RECORDING)
    assert done.code == 0, done
    assert "joins the archive once that can be used" in done.err, done
    assert upgraded.digest() == before
    for command in (["doctor"], ["install"], ["config"]):
        project.run(*command)
        assert upgraded.digest() == before, command


@pytest.mark.parametrize("tier", ["sqlite"])
def test_a_newer_version_s_journal_is_left_for_it(
    upgraded: Upgraded, write_settings: Callable[[str], None], tier: str
) -> None:
    project = upgraded.project
    project.archive.unlink()
    write_settings('tier = "json"\n')
    upgraded.newer("decision", "add", "in a journal", "--rationale", "r")
    (journal,) = project.data.rglob("history.jsonl")
    before = journal.read_bytes()
    write_settings(f'tier = "{tier}"\n')
    upgraded.go_on()
    for event in ("UserPromptSubmit", "Stop", "PreCompact"):
        assert upgraded.hook(event).code == 0
    done = project.run("decision", "list")
    assert done.code == 1
    assert "was written by a newer version" in done.err
    assert done.err.count("\n") == 1
    assert journal.read_bytes() == before
    upgraded.newer("import", str(upgraded.path))
    assert [item["decision"] for item in json.loads(upgraded.newer("decision", "list", "--json").out)] == [
        "one",
        "in a journal",
    ]
    steps = [json.loads(line) for line in upgraded.newer("export").out.splitlines()]
    assert kept(steps) == said(upgraded.written.content)

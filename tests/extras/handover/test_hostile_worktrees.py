"""A repository that wants its own programs run gets that neither by a hand-over nor by a look at an earlier state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.hostile import CORPUS, Hostile, becoming_hostile
from tests.fork_server import run_ours
from tests.interfaces.cli.screen import PROGRAM, person

PROGRAMS_OF_GIT = ("alias.status=!{trap}", "alias.rev-list=!{trap}", "alias.rev-parse=!{trap}", "pager.status={trap}")


@pytest.fixture
def hostile(repository: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """A repository into which anything may be planted."""
    return becoming_hostile(repository, home, tmp_path / "marks", monkeypatch)


@pytest.mark.parametrize("make", CORPUS, ids=lambda make: str(make.__name__))
def test_no_program_of_a_repository_is_run(hostile: Hostile, tmp_path: Path, make: Callable[[Hostile], None]) -> None:
    make(hostile)
    (hostile.folder / ".gitattributes").write_text("* diff=trap filter=trap\n", encoding="utf-8")
    (hostile.folder / "file.py").write_text("print(1)\n", encoding="utf-8")
    for setting in PROGRAMS_OF_GIT:
        hostile.git("config", *setting.format(trap=hostile.trap).split("=", 1), fails=True)
    hostile.forget()
    bundle = str(tmp_path / "work.jsonl")
    for command in (
        ["decision", "add", "Use SQLite", "--rationale", "one file"],
        ["list", "--at", "HEAD~0"],
        ["diff", "HEAD~0", "main"],
        ["status"],
        ["handover", "create", bundle],
        ["handover", "take", bundle],
    ):
        done = run_ours([*PROGRAM, *command], hostile.folder, person())
        assert "Traceback" not in done.stderr
    assert hostile.ran == []

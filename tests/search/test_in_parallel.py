from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.builders import NOW
from unified_state.lib.text import pack
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.memory.repository.place import locate
from unified_state.memory.secrets.masker import Masker
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.step import TEXT, Step
from unified_state.search.find import Wanted, find_everywhere
from unified_state.search.in_parallel import each
from unified_state.settings import Settings

MANY = 40  # archives, for which two processes are started where there are processors for them
WORDS = ("parser", "retry", "schema", "cache", "\ud83d", "getUserProfile")


@pytest.fixture
def workspace(tmp_path: Path, data_dir: Path, settings: Settings, masker: Masker) -> Workspace:
    """A workspace beside many repositories, the archives of which are alike and not the same."""
    for number in range(MANY):
        path = data_dir / "repositories" / f"{number:016x}" / "archive.db"
        with Archive(str(path)) as archive, archive.transaction(durable=False):
            session = touch_session(archive, f"session-{number}", NOW, worktree=f"/code/{number}")
            writer = StepWriter(archive, session, None)
            for place in range(30):
                words = [WORDS[(place * 7 + number * step) % len(WORDS)] for step in range(1, 4 + place % 5)]
                text = " ".join(words)
                uuid = f"{number:08x}-0000-4000-8000-{place:012x}"
                step = Step(uuid=uuid, block=0, kind=TEXT, at=NOW + place, text=text, starts_turn=place % 10 == 0)
                writer.add(step, pack(text))
    (tmp_path / "here").mkdir()
    here = locate(str(tmp_path / "here"), str(data_dir), create=True)
    return Workspace(here, settings, report=lambda _line: None)


@pytest.mark.parametrize("query", ["retry schema", "nothing of that"])
def test_hits_of_many_repositories_are_the_same_for_any_number_of_processes(
    workspace: Workspace, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for processors in (1, 3):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _process, count=processors: range(count), raising=False)
        found.append(find_everywhere(workspace, Wanted(query), NOW))
    assert found[0] == found[1]
    assert all(one.worktree == f"/code/{int(Path(one.archive).parent.name, 16)}" for one in found[0])


def _ended_in_a_copy(here: int) -> Callable[[str], str]:
    def work(path: str) -> str:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return path.upper()

    return work


@pytest.mark.parametrize("count", [1, 15, 16, 33, 200])
def test_values_are_in_the_order_of_the_paths(count: int) -> None:
    paths = [f"p{number}" for number in range(count)]
    assert each(str.upper, paths) == [path.upper() for path in paths]


def test_the_work_of_a_process_that_was_killed_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: range(4), raising=False)
    paths: Sequence[str] = [f"p{number}" for number in range(100)]
    assert each(_ended_in_a_copy(os.getpid()), list(paths)) == [path.upper() for path in paths]

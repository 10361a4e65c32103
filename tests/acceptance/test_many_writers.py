"""Promise 5: many writers. Several sessions, worktrees and tools write at once, and nothing of it is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from tests.amount import amount

from .product import PATIENCE, Project, archive_is_whole, valid_state
from .reading import kept, said
from .transcripts import Transcript

ADDS = amount(50, 4)
PROGRAMS, SHELLS = 28, 4  # processes that call the API, and loops that start the command line anew each time

ADD_THROUGH_API = """
import sys
from unified_state import UnifiedStateManager
folder, session, count = sys.argv[1:]
manager = UnifiedStateManager(folder, session)
for number in range(int(count)):
    print(manager.add_decision(f"{session} decides {number}", "because", reversible=True).id, flush=True)
"""


@pytest.fixture
def worktrees(project: Project, git: Callable[..., str]) -> list[Project]:
    """Two worktrees of one repository."""
    other = project.folder.parent / "other"
    git("worktree", "add", "--quiet", str(other), "-b", "other")
    return [project, Project(other, project.home)]


def test_32_processes_record_decisions_at_once_and_all_are_kept_under_ids_of_their_own(
    worktrees: list[Project],
) -> None:
    with ThreadPoolExecutor(PROGRAMS + SHELLS) as pool, _watched(worktrees) as looks:
        added = [pool.submit(_add_through_api, worktrees[n % 2], f"program-{n}") for n in range(PROGRAMS)]
        added += [pool.submit(_add_through_shell, worktrees[n % 2], f"shell-{n}") for n in range(SHELLS)]
        ids = [alias for future in added for alias in future.result()]
    assert len(ids) == len(set(ids)) == (PROGRAMS + SHELLS) * ADDS
    items = {item["id"]: item["decision"] for item in worktrees[0].ask("decision", "list")}
    assert set(items) == set(ids)
    assert len(set(items.values())) == len(ids)
    assert archive_is_whole(worktrees[0].archive)
    assert min(looks) > 2 * ADDS, "the state files were hardly looked at meanwhile"


def test_sessions_that_are_archived_at_the_same_time_are_archived_whole_and_once(
    worktrees: list[Project], tmp_path: Path
) -> None:
    transcripts = {f"session-{n}": _transcript(f"session-{n}") for n in range(6)}
    paths = {name: written.write(tmp_path / f"{name}.jsonl") for name, written in transcripts.items()}

    def hook(event: str, number: int) -> None:
        name = f"session-{number}"
        done = worktrees[number % 2].hook(event, session_id=name, transcript_path=str(paths[name]), trigger="auto")
        assert done.code == 0, done

    with ThreadPoolExecutor(12) as pool:
        events = ("UserPromptSubmit", "PreCompact", "Stop", "PreCompact", "UserPromptSubmit")
        list(pool.map(lambda job: hook(*job), [(event, number) for event in events for number in range(6)]))
    for name, written in transcripts.items():
        assert kept(worktrees[0].export(name)) == said(written.content)


def _add_through_api(project: Project, session: str) -> list[str]:
    command = [sys.executable, "-c", ADD_THROUGH_API, str(project.folder), session, str(ADDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def _add_through_shell(project: Project, session: str) -> list[str]:
    ids = []
    for number in range(ADDS):
        arguments = ("decision", "add", f"{session} decides {number}", "--rationale", "r", "--session", session)
        done = project.run(*arguments)
        assert (done.code, done.err) == (0, "")
        ids.append(done.out.strip())
    return ids


@contextmanager
def _watched(projects: list[Project]) -> Iterator[list[int]]:
    """Somebody who reads the state files all the time: each look must find a whole and valid one. Yields the number
    of looks at each file, which is known afterwards.
    """
    over = Event()
    looks: list[int] = []

    def look(path: Path) -> int:
        count = 0
        while not over.is_set():
            if path.exists():
                valid_state(path.read_bytes())
                count += 1
            over.wait(0.01)
        return count

    with ThreadPoolExecutor(len(projects)) as pool:
        futures = [pool.submit(look, project.state_path) for project in projects]
        try:
            yield looks
        finally:
            over.set()
        looks += [future.result() for future in futures]


def _transcript(name: str, turns: int = 20, size: int = 2000) -> Transcript:
    written = Transcript(name)
    for number in range(turns):
        written.turn(number, size)
    return written

"""Promise 1 under kill -9: what was acknowledged is kept, what was interrupted is done later, exactly once."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest

from tests.amount import amount

from .product import PROGRAM, Project, archive_is_whole, hook_command, valid_state
from .reading import kept, said
from .striking import command_struck_at, hook_struck_at, run_struck
from .transcripts import Transcript

KILLS = amount(100, 30)  # of saving, and as many of archiving
SEED = 20_261_121
FIRST_POINTS = 5  # at which there may be no archive yet

SAVE_UNTIL_KILLED = """
import sys
from unified_state import UnifiedStateManager
manager = UnifiedStateManager(sys.argv[1], sys.argv[2])
print("ready", flush=True)
for number in range(1000):
    print(manager.add_decision(f"{sys.argv[2]} decides {number}", "because").id, flush=True)
    if number % 4 == 3:
        manager.save_state("checkpoint", highlights=[f"{sys.argv[2]} saved {number}"])
"""


def test_nothing_acknowledged_is_lost_when_saving_is_killed_again_and_again(project: Project) -> None:
    project.decide("before")
    chances = _chances("saving")
    with ThreadPoolExecutor(2) as pool:
        runs = pool.map(lambda n: _save_and_kill(project, f"run-{n}", chances[n]), range(KILLS))
        acknowledged = [alias for aliases in runs for alias in aliases]
    assert len(acknowledged) > KILLS, "the processes were killed before they did anything"
    assert len(acknowledged) == len(set(acknowledged))
    items = [item["id"] for item in project.ask("decision", "list")]
    assert set(acknowledged) <= set(items)
    assert len(items) == len(set(items))
    assert archive_is_whole(project.archive)
    assert project.run("load").code == 0
    assert project.ask("validate") == {"valid": True, "findings": []}


@pytest.mark.parametrize("command", ["UserPromptSubmit", "PreCompact", "ingest"])
def test_what_was_not_archived_when_a_process_was_killed_is_archived_later_and_once(
    project: Project, tmp_path: Path, command: str
) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"
    for number, seconds in enumerate(_chances(command)[: KILLS // 3 + 1]):
        for turn in range(12):
            written.turn(number * 12 + turn, size=20_000)
        written.write(path)
        _archive_and_kill(project, command, path, seconds)
        assert all(map(archive_is_whole, project.archives))
    assert project.hook("PreCompact", transcript_path=str(path)).code == 0
    assert kept(project.export("s")) == said(written.content)


def test_a_first_decision_that_is_killed_at_any_point_is_recorded_by_the_next_try(
    repository: Path, home: Path, tmp_path: Path
) -> None:
    def try_it(point: int) -> int:
        project = Project(_copied(repository, tmp_path / f"first-{point}"), home)
        status = run_struck(_decide_struck(point, tmp_path, "first"), project.folder)
        project.decide("second")
        assert [item["decision"] for item in project.ask("decision", "list")][-1] == "second"
        assert len(project.state()["decisions"]) == len(project.ask("decision", "list"))
        return status

    _at_every_point(try_it)


def test_a_save_that_is_killed_at_any_point_leaves_a_whole_file_that_the_next_one_brings_up_to_date(
    project: Project, tmp_path: Path
) -> None:
    ids = [project.decide("before")]

    def try_it(point: int) -> int:
        status = run_struck(_decide_struck(point, tmp_path, f"killed at {point}"), project.folder)
        project.state()
        assert archive_is_whole(project.archive)
        ids.append(project.decide(f"after {point}"))
        return status

    _at_every_point(try_it)
    items = [item["id"] for item in project.ask("decision", "list")]
    assert len(items) == len(set(items))
    assert set(ids) <= set(items)
    assert {entry["id"] for entry in project.state()["decisions"]} <= set(items)


def test_a_hook_that_is_killed_at_any_point_archives_the_rest_the_next_time(project: Project, tmp_path: Path) -> None:
    written, path = Transcript("s"), tmp_path / "s.jsonl"

    def try_it(point: int) -> int:
        written.turn(point)
        event = project.event("PreCompact", transcript_path=str(written.write(path)))
        status = run_struck(hook_struck_at(point, tmp_path, hook_command("PreCompact")), project.folder, event)
        assert all(map(archive_is_whole, project.archives))
        return status

    _at_every_point(try_it)
    assert project.hook("PreCompact", transcript_path=str(path)).code == 0
    assert kept(project.export("s")) == said(written.content)


def test_a_stop_that_is_killed_at_any_point_after_it_let_the_client_go_on_has_kept_the_last_word(
    project: Project, tmp_path: Path
) -> None:
    """In a session whose client wrote no transcript and is gone, so that nothing else has that word."""
    client = subprocess.Popen([sys.executable, "-c", ""])
    client.wait()

    def try_it(point: int) -> int:
        session = f"s{point}"
        path = Transcript(session).write(tmp_path / f"{session}.jsonl")
        fields = {"session_id": session, "transcript_path": str(path)}
        start = project.event("SessionStart", source="startup", **fields)
        environment = {"CLAUDE_PID": str(client.pid)}
        assert project.execute(hook_command("SessionStart", "brief"), start, environment).code == 0
        event = project.event("Stop", last_assistant_message="All done.", **fields)
        command = hook_struck_at(point, tmp_path, hook_command("Stop"))
        done = subprocess.run(command, cwd=project.folder, input=event, capture_output=True, check=False)
        assert project.hook("SessionStart", "brief", session_id="another", source="startup").code == 0
        said = [line["text"] for line in project.export(session)]
        assert said == ["All done."] or (not said and not done.stdout)
        return done.returncode

    _at_every_point(try_it)


def _at_every_point(try_it: Callable[[int], int]) -> None:
    """Strike at one point after the other (at every third, unless in full) until a process comes to its end."""
    for point in range(1, 1000, amount(1, 3)):
        if try_it(point) == 0:
            assert point > FIRST_POINTS, "the process was never struck"
            return


def _decide_struck(point: int, root: Path, text: str) -> list[str]:
    return command_struck_at(point, root, "decision", "add", text, "--rationale", "because")


def _copied(repository: Path, folder: Path) -> Path:
    shutil.copytree(repository, folder)
    return folder


def _chances(name: str) -> list[float]:
    """For how many seconds each process lives or is let work: the same in every run of the tests."""
    print(f"seed {SEED}/{name}")
    generator = random.Random(f"{SEED}/{name}")
    return [generator.uniform(0.01, 0.25) for _ in range(KILLS)]


def _save_and_kill(project: Project, session: str, seconds: float) -> list[str]:
    """Let a program save until it is killed, look at the state file; the ids that it was given."""
    command = [sys.executable, "-c", SAVE_UNTIL_KILLED, str(project.folder), session]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        told = "".join(process.stdout.readline() for _ in range(round(seconds * 20)))
        sleep(seconds / 20)  # somewhere in the next one
        process.kill()
        told += process.stdout.read()
    if project.state_path.exists():
        valid_state(project.state_path.read_bytes())
    return told.split("\n")[:-1]


def _archive_and_kill(project: Project, command: str, path: Path, seconds: float) -> None:
    """Let a hook or an ingest archive a transcript until it is killed."""
    arguments = [*PROGRAM, "import", str(path)] if command == "ingest" else hook_command(command)
    event = json.loads(project.event(command, transcript_path=str(path)))
    with subprocess.Popen(
        arguments,
        cwd=project.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(event))
        process.stdin.close()
        sleep(seconds)
        process.kill()

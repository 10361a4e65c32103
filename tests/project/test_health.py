from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import HOUR, NOW
from unified_state.project.health import LOG, HookRun, health_line, last_runs, log_problem, note_run, read_log


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path)


def test_the_last_run_of_each_event_is_known(folder: str) -> None:
    note_run(folder, HookRun("Stop", NOW, 12, "a problem that was longer than the next line"))
    note_run(folder, HookRun("Stop", NOW + 1, 9))
    note_run(folder, HookRun("SessionStart.brief", NOW, 30))
    assert last_runs(folder) == [HookRun("SessionStart.brief", NOW, 30), HookRun("Stop", NOW + 1, 9)]


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"5", b"\xff", b"{}", b"null"])
def test_a_trace_that_is_half_written_is_passed_over(folder: str, content: bytes) -> None:
    note_run(folder, HookRun("Stop", NOW, 12))
    (Path(folder) / "runs" / "PreCompact").write_bytes(content)
    assert last_runs(folder) == [HookRun("Stop", NOW, 12)]


def test_the_newest_problem_is_told_until_the_next_good_run(folder: str) -> None:
    note_run(folder, HookRun("Stop", NOW - 2 * HOUR, 12, "no space"))
    note_run(folder, HookRun("PreCompact", NOW - HOUR, 12, "no git"))
    assert health_line(folder, NOW) == "PreCompact failed 1 h ago: no git; `unified-state doctor` tells more"
    note_run(folder, HookRun("PreCompact", NOW, 12))
    assert health_line(folder, NOW) == "Stop failed 2 h ago: no space; `unified-state doctor` tells more"


def test_problems_are_logged_the_newest_last(folder: str) -> None:
    for number in range(3):
        log_problem(folder, NOW + number, "Stop", f"problem {number}", "Traceback")
    assert read_log(folder, 2) == [
        {"at": "2026-09-21T14:13:20.001Z", "event": "Stop", "problem": "problem 1", "details": "Traceback"},
        {"at": "2026-09-21T14:13:20.002Z", "event": "Stop", "problem": "problem 2", "details": "Traceback"},
    ]
    assert (Path(folder) / LOG).stat().st_mode & 0o777 == 0o600


def test_a_log_that_has_grown_is_cut_and_its_end_is_still_read(folder: str) -> None:
    for number in range(40):
        log_problem(folder, NOW, "Stop", f"{number} " + "x" * 20_000)
    sizes = [path.stat().st_size for path in Path(folder).glob(LOG + "*")]
    assert len(sizes) == 2
    assert sum(sizes) < 600_000
    assert [problem["problem"].split()[0] for problem in read_log(folder, 3)] == ["37", "38", "39"]


def test_half_a_line_in_the_log_is_passed_over(folder: str) -> None:
    (Path(folder) / LOG).write_text('{"at": "x", "pro\n' + json.dumps({"problem": "real"}) + "\n5\n[]\n")
    assert read_log(folder, 9) == [{"problem": "real"}]

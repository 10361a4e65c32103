"""The page and the summary come from the runs' files alone; a run is whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.live.measures import repeated
from evaluation.live.results import Json, Results, write_result
from evaluation.live.summary import summary
from tests.acceptance.transcripts import Transcript


def result(task: str, arm: str, *, solved: bool) -> Json:
    counts = dict.fromkeys(("rules_broken", "corrections", "files_read_again", "commands_run_again"), 0)
    known = {"task": task, "arm": arm, "ending": "compacted", "solved": solved, "solved_at_once": solved}
    return {**known, **counts, "tokens": 1000, "dollars": 0.5, "minutes": 2.0}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    found = Results(tmp_path / "results")
    found.register({"model": "m", "arms": ["bare", "unified-state"]})
    for number in range(8):
        for arm in ("bare", "unified-state"):
            with found.run(f"t{number}--{arm}") as folder:
                write_result(folder, result(f"t{number}", arm, solved=arm != "bare" or number == 0))
    return found


def test_the_summary_pairs_the_arms_by_task(results: Results) -> None:
    lines = summary(results.all()).splitlines()
    assert lines[2].startswith("| bare | 8 | .125 (.00 to .38) |")
    assert lines[3].startswith("| unified-state | 8 | 1.00 (1.0 to 1.0) | +7 -0, p 0.016 |")


def test_a_run_that_fails_leaves_nothing(results: Results) -> None:
    def fail() -> None:
        with results.run("broken") as folder:
            (folder / "requests.jsonl").write_text("{}", encoding="utf-8")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not results.has("broken")
    assert not list((results.root / ".unfinished").iterdir())


def test_a_folder_is_registered_once(results: Results) -> None:
    assert not results.register({"model": "m", "arms": ["bare", "unified-state"]})
    with pytest.raises(ValueError, match="was written for other arms; name another folder"):
        results.register({"model": "m", "arms": ["bare"]})


def test_files_and_commands_count_as_repeated_only_behind_a_break() -> None:
    written = Transcript("s")
    written.call("Read", {"file_path": "/a.py"}, "x")
    written.call("Read", {"file_path": "/a.py"}, "x")
    written.call("Bash", {"command": "pytest -q"}, "x")
    written.compaction("summary")
    for path in ("/a.py", "/b.py", "/a.py"):
        written.call("Read", {"file_path": path}, "x")
    written.call("Bash", {"command": "pytest -q "}, "x")
    counted = repeated(written.content.decode().splitlines())
    assert counted == {"files_read_again": 1, "commands_run_again": 1, "compactions": 1}

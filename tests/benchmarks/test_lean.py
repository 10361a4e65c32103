"""The benchmark of lean context on a session of which every figure can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import lean
from benchmarks.lean_sessions import Stretch, stretches
from benchmarks.lean_uses import BY_NAME, VERBATIM, uses
from tests import builders

STEPS = [f"step {number} of the long way" for number in range(1_000)]
TESTS = "\n".join([*STEPS[:500], "see pool_size_limit in the middle", *STEPS[500:]])
FILE = "     1\u2192def acquire(pool):\n     2\u2192    return pool.connections.pop()"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A command and a file are read, a line of the file is edited, a name of the output is written; then again after a
    compaction.
    """
    edit = {"file_path": "/p/a.py", "old_string": "    return pool.connections.pop()", "new_string": "    return None"}
    entries = [
        builders.prompt(0, "Please see to it"),
        builders.answer(1, builders.call("toolu_1", "Bash", command="./run.sh")),
        builders.result(2, "toolu_1", TESTS, toolUseResult={"stdout": TESTS}),
        builders.answer(3, builders.call("toolu_2", "Read", file_path="/p/a.py")),
        builders.result(4, "toolu_2", FILE),
        builders.answer(5, "pool_size_limit it is", builders.call("toolu_3", "Edit", **edit)),
        builders.result(6, "toolu_3", "done"),
        builders.answer(7, "Done: step 3 of the long way"),
        builders.boundary(8),
        builders.answer(9, "step 4 of the long way"),
    ]
    builders.write_transcript(tmp_path / "transcripts" / "session.jsonl", *entries)
    return tmp_path / "transcripts"


@pytest.fixture
def stretch(folder: Path) -> Stretch:
    """What is before the compaction."""
    first, second = stretches(folder)
    assert (len(first.outputs), len(second.outputs)) == (3, 0)
    return first


def test_uses_are_the_lines_and_new_names_that_the_agent_writes_before_the_compaction(stretch: Stretch) -> None:
    of_command, of_file, of_edit = uses(stretch)
    assert [(use.way, use.words, use.lines) for use in of_command] == [
        (VERBATIM, "step 3 of the long way", (3,)),
        (BY_NAME, "pool_size_limit", (500,)),
    ]
    assert [use.words for use in of_file] == ["return pool.connections.pop()", "pool.connections.pop"]
    assert of_edit == []


def test_the_tables_of_a_folder_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lean.main([str(folder)]) == 0
    printed = capsys.readouterr().out
    assert (
        printed.index("All output") < printed.index("Other output") < printed.index("By kind: unified-state, level 2")
    )
    assert "\nOther output that the client takes\n" in printed
    assert lean.main([str(folder / "session.jsonl")]) == 1

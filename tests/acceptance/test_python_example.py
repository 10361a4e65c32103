"""The example of the Python API in the README, run as a program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "notes_with_memory.py"


def test_the_example_of_the_python_api_runs(repository: Path) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], cwd=repository, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "D2 Keep notes in SQLite (one file, no server)",
        '{"open": "Which port?", "priority": "high"}',
        "['A1'] superseded",
        "D3 proposed ['C1']",
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_the_example_has_at_most_40_lines() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 40

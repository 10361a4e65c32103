"""A Python that was built without SQLite: whoever starts it is told so in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = f"import sys; sys.modules['_sqlite3'] = None; sys.path.append({str(ROOT)!r}); from unified_state.interfaces."


@pytest.mark.parametrize(
    ("entry", "arguments"),
    [("cli.main", ["status"]), ("launched", ["SessionStart", "brief"]), ("plugin", ["SessionStart", "brief"])],
)
def test_without_sqlite_one_line_says_what_is_missing(entry: str, arguments: list[str]) -> None:
    command = [sys.executable, "-I", "-c", f"{CODE}{entry} import main; main()", *arguments]
    done = subprocess.run(command, input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "unified-state: this Python has no SQLite; install with one that has it\n"

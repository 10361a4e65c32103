"""The benchmark of commands as an archive grows, at a size that a run of the tests can bear."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def lines_of(*command: str) -> list[str]:
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_process_is_timed_at_each_size(tmp_path: Path) -> None:
    options = ("--steps", "4000", "--rounds", "1", "--repositories", "2", "--folder", str(tmp_path))
    _, *rows, growing = lines_of("benchmarks.scale_commands", *options)
    assert len(rows) == 48
    assert growing == "exponent above 0.3: none"
    for row in rows:
        *_, seconds, exponent = row.split()
        assert float(seconds) > 0
        assert float(exponent) == 0

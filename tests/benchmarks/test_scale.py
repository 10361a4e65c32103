"""The benchmark of the tiers, at a size that every run of the tests can bear."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = (sys.executable, "-m", "benchmarks.scale", "--steps", "300", "--clients", "2", "--rounds", "1")


def test_every_tier_is_filled_and_asked(tmp_path: Path) -> None:
    """In a process of its own, with which the one ends that `multiprocessing` keeps beside its clients."""
    done = subprocess.run([*COMMAND, "--folder", str(tmp_path)], capture_output=True, text=True, check=True)
    rows = [line.rsplit(maxsplit=8) for line in done.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == ["sqlite", "json"]
    for _, *figures in rows:
        assert all(float(figure.replace(",", "")) >= 0 for figure in figures)
        assert float(figures[1].replace(",", "")) > 0  # steps a second

"""The benchmark of the tiers, at a size that every run of the tests can bear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.scale import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_every_tier_is_filled_and_asked_in_each_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--steps", "300", "--clients", "2", "--rounds", "1", "--folder", str(tmp_path)]) == 0
    rows = [line.rsplit(maxsplit=9) for line in capfd.readouterr().out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["sqlite", "sqlite (ranked)", "json", "postgres", "postgres (hybrid)"]
    for _, *figures in rows:
        assert all(float(figure.replace(",", "")) >= 0 for figure in figures)
        assert float(figures[1].replace(",", "")) > 0  # steps a second

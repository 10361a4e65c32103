"""Means and their intervals."""

from __future__ import annotations

from benchmarks.averages import average


def test_the_interval_is_the_same_in_every_run_and_holds_the_mean() -> None:
    found = average([0.0, 0.5, 1.0, 0.5])
    assert found == average([0.0, 0.5, 1.0, 0.5])
    assert found.mean == 0.5
    assert 0.0 <= found.low < 0.5 < found.high <= 1.0

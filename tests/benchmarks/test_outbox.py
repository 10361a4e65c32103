"""The benchmark of the outbox, at a size that every run of the tests can bear."""

from __future__ import annotations

from benchmarks.outbox import run


def test_through_kills_cuts_and_restarts_everything_reaches_the_server_once() -> None:
    outcome = run(steps=3_000, faults=10)
    assert outcome.steps >= 3_000  # copies in forks are counted too
    assert set(outcome.struck) == {"kill", "cut", "restart"}
    assert (outcome.missing, outcome.surplus, outcome.twice) == (0, 0, 0)

"""The benchmark of the outbox, at a size that every run of the tests can bear."""

from __future__ import annotations

import pytest

from benchmarks.local_citus import LocalCitus
from benchmarks.outbox import run
from tests.amount import amount
from tests.citus_server import need_citus


def test_through_kills_cuts_and_restarts_everything_reaches_the_server_once() -> None:
    outcome = run(steps=3_000, faults=10)
    assert outcome.steps >= 3_000  # copies in forks are counted too
    assert set(outcome.struck) == {"kill", "cut", "restart"}
    assert (outcome.missing, outcome.surplus, outcome.twice) == (0, 0, 0)


@pytest.mark.skipif(not amount(True, False), reason="UNIFIED_STATE_TEST_FULL=1 tries it on Citus too")
def test_on_citus_too_whichever_node_restarts() -> None:
    need_citus()
    outcome = run(steps=1_500, faults=6, kind=LocalCitus)
    assert outcome.steps >= 1_500
    assert set(outcome.struck) == {"kill", "cut", "restart"}
    assert (outcome.missing, outcome.surplus, outcome.twice) == (0, 0, 0)

"""How often an append asks the server does not grow with the number of steps: a server may be far away, a project's
writers wait for each other, and a run in the background has a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from benchmarks.cutting_proxy import CuttingProxy
from tests.contracts.contract import step, uuid
from tests.postgres_server import PostgresServer
from unified_state.model.history_records import Tombstone

if TYPE_CHECKING:
    from tests.team.postgres.conftest import OpenAs
    from unified_state.model.history_records import HistoryRecord

MANY = 300


@pytest.fixture
def turns(postgres: PostgresServer, open_as: OpenAs) -> Iterator[Callable[[list[HistoryRecord]], int]]:
    """Appends records; how often the server was asked for it."""
    with CuttingProxy(str(postgres.folder / f".s.PGSQL.{postgres.port}")) as proxy:
        store = open_as(host=proxy.folder, port=5432)

        def count(records: list[HistoryRecord]) -> int:
            before = proxy.turns
            assert store.append(records) >= 0
            return proxy.turns - before

        yield count


KINDS: dict[str, Callable[[int], HistoryRecord]] = {
    "new": lambda number: step(MANY + number),
    "masked": lambda number: step(number, "masked", masked_at=1),
    "forgotten": lambda number: Tombstone("step", f"{uuid(number)}/0", 1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_many_steps_take_few_round_trips(turns: Callable[[list[HistoryRecord]], int], kind: str) -> None:
    turns([step(number) for number in range(MANY)])
    assert turns([KINDS[kind](number) for number in range(MANY)]) < MANY / 3

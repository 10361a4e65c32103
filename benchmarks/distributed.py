"""What a distributed server (Citus) costs beside a plain one: the same steps and queries, the same PostgreSQL 15.

    python -m benchmarks.distributed [--steps 20000] [--rounds 5]

Both run on this machine with the same settings, as an ordinary member with a role. They take turns, so that whatever
else the machine does meets both.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from operator import methodcaller
from pathlib import Path

from benchmarks.scale_tiers import written_steps
from benchmarks.search import QUERIES
from tests.citus_server import citus_programs, start_citus
from tests.postgres_server import PostgresServer, end_server, start_server
from unified_state.lib.record import Record
from unified_state.model.history_records import HistoryQuery
from unified_state.team.postgres.postgres_store import PostgresStore, open_postgres

_BATCH, _FEW, _HITS = 2_000, 20, 10
_ASKED = tuple(query for queries in QUERIES.values() for query in queries)


class Costs(Record):
    """Seconds of one server by what it did: the median of each."""

    append: float
    append_few: float
    append_again: float
    search: float
    read: float

    def over(self, other: Costs) -> dict[str, float]:
        """How many times as much as another server's."""
        return {name: round(value / getattr(other, name), 2) for name, value in self.as_dict().items()}


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5, help="of all queries")
    given = parser.parse_args(arguments)
    plain, distributed = measure(given.steps, given.rounds)
    print(f"{given.steps} steps, median seconds, PostgreSQL 15 plain and with Citus on three nodes of this machine")
    for name, times in distributed.over(plain).items():
        print(f"{name:14} {getattr(plain, name):9.4f} {getattr(distributed, name):9.4f} {times:6.2f} times")
    return 0


def measure(steps: int, rounds: int) -> tuple[Costs, Costs]:
    """Return the costs of a plain server and of a distributed one."""
    folder = Path(tempfile.mkdtemp(prefix="us-distributed-"))
    folder.chmod(0o755)
    try:
        servers = [start_server(folder / "plain", citus_programs()), start_citus(folder / "citus")]
        stores = [_open_as_member(server) for server in servers]
        seconds: list[dict[str, list[float]]] = [{}, {}]
        for name, work in _works(steps, rounds):
            for store, found in zip(stores, seconds, strict=True):
                begin = time.perf_counter()
                work(store)
                found.setdefault(name, []).append(time.perf_counter() - begin)
        for store in stores:
            store.close()
    finally:
        end_server(folder)
    plain, distributed = (Costs(**{name: statistics.median(all_) for name, all_ in found.items()}) for found in seconds)
    return plain, distributed


def _open_as_member(server: PostgresServer) -> PostgresStore:
    open_postgres(server.dsn(), "p", organisation="owners", member="owner").close()
    role = server.role()
    with server.connect() as owner:
        owner.execute("SELECT unified_state.admit(%s, 'acme', 'ada')", [role])
    return open_postgres(server.dsn(user=role), "scale", organisation="acme", member="ada")


def _works(steps: int, rounds: int) -> list[tuple[str, Callable[[PostgresStore], object]]]:
    """What both do in turn, each with its name."""
    written = written_steps(steps + 20 * _FEW)
    batches = [list(itertools.islice(written, _BATCH)) for _ in range(steps // _BATCH)]
    few = [list(itertools.islice(written, _FEW)) for _ in range(20)]
    session = batches[0][0].session_id
    works: list[tuple[str, Callable[[PostgresStore], object]]] = []
    works += [("append", methodcaller("append", batch)) for batch in batches]
    works += [("append_few", methodcaller("append", batch)) for batch in few]
    works += [("append_again", methodcaller("append", batch)) for batch in batches[:5]]
    works += [("search", methodcaller("search", HistoryQuery(query, limit=_HITS))) for query in _ASKED * rounds]
    return works + [("read", methodcaller("steps", session))] * rounds


if __name__ == "__main__":
    sys.exit(main())

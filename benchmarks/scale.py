"""What each tier costs as history grows: taking it in, its size, searching it with one client and with sixteen.

    python -m benchmarks.scale [--tiers sqlite,json,postgres] [--steps 10000,100000] [--folder FOLDER]

Steps have the shape of real sessions (`benchmarks/long_archive.py`), queries are the fixed mix of
`benchmarks/search.py`. Each client is a process with a store of its own, warm: it asks every query once before it is
timed. Beside the tier's own search, `sqlite (ranked)` is the product's, which scores its candidates and their
neighbours. In a FOLDER what was written is kept for the next run.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path

from benchmarks.long_archive import BEGIN, sessions
from benchmarks.search import QUERIES
from unified_state.records.history import HistoryQuery, StoredStep
from unified_state.services.searching import search
from unified_state.storage.archive import Archive
from unified_state.storage.tiers.json_lines import JsonStore
from unified_state.storage.tiers.postgres.embedded import EMBEDDED
from unified_state.storage.tiers.postgres.opening import open_postgres
from unified_state.storage.tiers.protocol import HistoryStore
from unified_state.storage.tiers.sqlite import SqliteStore

_PROJECT = "scale"
_BATCH = 2_000
_HITS = 10
_ASKED = tuple(query for queries in QUERIES.values() for query in queries)
_ROUNDS = 3
Ask = Callable[[str], object]


@dataclass(frozen=True)
class Tier:
    """How a tier is opened in a folder, how large it is there, and how a client of it asks."""

    open: Callable[[Path], HistoryStore]
    size: Callable[[Path], int]
    asks: dict[str, Callable[[Path, ExitStack], Ask]]


def main(arguments: list[str] | None = None) -> int:
    """Fill each tier, ask all queries, print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiers", default="sqlite,json,postgres")
    parser.add_argument("--steps", default="10000,100000")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--folder", type=Path, help="an existing one, in which what is written is kept")
    options = parser.parse_args(arguments)
    print(f"{'':16}     steps   steps/s       MB       p50 ms       p95 ms   of many p50   of many p95   client MB")
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="unified-state-")))
        for steps, name in itertools.product(map(int, options.steps.split(",")), options.tiers.split(",")):
            place = folder / f"{name}-{steps}"
            rate = _fill(TIERS[name], place, steps)
            size = TIERS[name].size(place) / 1e6
            for ask in TIERS[name].asks:
                one, memory = _latencies(name, ask, place, 1)
                many, _ = _latencies(name, ask, place, options.clients)
                told = "  ".join(f"{ms:11.1f}" for ms in (*_percentiles(one), *_percentiles(many)))
                print(f"{ask:16} {steps:9,} {rate:>9} {size:8,.0f}  {told}  {memory:9.0f}", flush=True)
    return 0


def _fill(tier: Tier, place: Path, steps: int) -> str:
    """Write the steps where they are not there yet; how many a second."""
    done = place / "rate"
    if not done.exists():
        place.mkdir(parents=True, exist_ok=True)
        seconds, written = 0.0, _written(steps)
        with tier.open(place) as store:
            while batch := list(itertools.islice(written, _BATCH)):
                begin = time.perf_counter()
                store.append(batch)
                seconds += time.perf_counter() - begin
        done.write_text(f"{steps / seconds:,.0f}", encoding="utf-8")
    return done.read_text(encoding="utf-8")


def _written(steps: int) -> Iterator[StoredStep]:
    """The steps of a long archive, as they travel between stores."""
    fields = [name for name in StoredStep.names if name not in {"session_id", "unknown"}]
    for session_id, written in sessions(steps):
        for step in written:
            yield StoredStep(session_id=session_id, **{name: getattr(step, name) for name in fields})


def _latencies(tier: str, ask: str, place: Path, clients: int) -> tuple[list[float], float]:
    """How long each query took in milliseconds, over all clients at once, and the memory of a client in megabytes."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(clients)
    with context.Pool(clients, initializer=_take_barrier, initargs=(barrier,)) as pool:
        done = pool.starmap(_ask_all, [(tier, ask, place, seed) for seed in range(clients)], chunksize=1)
        pool.close()
        pool.join()  # a client that is ended leaves an embedded server behind
    return [one for latencies, _ in done for one in latencies], statistics.median(memory for _, memory in done)


def _take_barrier(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603  # a pool hands shared things to its processes in no other way
    _barrier = barrier


def _ask_all(tier: str, ask: str, place: Path, seed: int) -> tuple[list[float], float]:
    """One client: every query once, then all at the same time as the other clients, in an order of its own."""
    asked = [query for _ in range(_ROUNDS) for query in _ASKED]
    random.Random(seed).shuffle(asked)
    with ExitStack() as stack:
        answer = TIERS[tier].asks[ask](place, stack)
        for query in _ASKED:
            answer(query)
        _barrier.wait()
        latencies = []
        for query in asked:
            begin = time.perf_counter()
            answer(query)
            latencies.append((time.perf_counter() - begin) * 1000)
    return latencies, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _percentiles(latencies: Sequence[float]) -> tuple[float, float]:
    return statistics.median(latencies), statistics.quantiles(latencies, n=20)[-1]


def _store_asks(open_store: Callable[[Path], HistoryStore]) -> Callable[[Path, ExitStack], Ask]:
    def asks(place: Path, stack: ExitStack) -> Ask:
        store = stack.enter_context(open_store(place))
        return lambda query: store.search(HistoryQuery(text=query, limit=_HITS))

    return asks


def _ranked_asks(place: Path, stack: ExitStack) -> Ask:
    archive = stack.enter_context(Archive(_archive_path(place)))
    return lambda query: search(archive, query, _HITS, now=BEGIN)


def _archive_path(place: Path) -> str:
    return str(place / "archive.db")


def _open_sqlite(place: Path) -> HistoryStore:
    return SqliteStore(_archive_path(place))


def _open_json(place: Path) -> HistoryStore:
    return JsonStore(str(place), _PROJECT)


def _open_postgres(place: Path) -> HistoryStore:
    return open_postgres(f"{EMBEDDED}{place}/server", _PROJECT, organisation="scale", member="ada")


def _folder_bytes(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


TIERS: dict[str, Tier] = {
    "sqlite": Tier(_open_sqlite, _folder_bytes, {"sqlite": _store_asks(_open_sqlite), "sqlite (ranked)": _ranked_asks}),
    "json": Tier(_open_json, _folder_bytes, {"json": _store_asks(_open_json)}),
    "postgres": Tier(_open_postgres, _folder_bytes, {"postgres": _store_asks(_open_postgres)}),
}
_barrier: Barrier


if __name__ == "__main__":
    sys.exit(main())

"""What each tier costs as history grows: taking it in, its size, searching it with one client and with sixteen.

    python -m benchmarks.scale [--tiers sqlite,json] [--steps 10000,100000] [--folder FOLDER]

Steps have the shape of real sessions (`benchmarks/long_archive.py`), queries are the fixed mix of
`benchmarks/search.py`. Each client is a process with a store of its own, warm: it asks every query once before it is
timed. Memory is that of one client. In a FOLDER what was written is kept for the next run.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.synchronize import Barrier
from pathlib import Path

from benchmarks.scale_tiers import TIERS, asker, fill
from benchmarks.search import QUERIES

_ASKED = tuple(query for queries in QUERIES.values() for query in queries)
_MEGABYTE = 1e6
_barrier: Barrier


def main(arguments: list[str] | None = None) -> int:
    """Fill each tier, ask all queries, print a row for each way to ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiers", default="sqlite,json")
    parser.add_argument("--steps", default="10000,100000")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3, help="how often each client asks each query")
    parser.add_argument("--folder", type=Path, help="an existing one, in which what is written is kept")
    options = parser.parse_args(arguments)
    print(f"{'':18}    steps   steps/s       MB       p50 ms       p95 ms", end="")
    print("   of many p50   of many p95   client MB")
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="unified-state-")))
        for steps, name in itertools.product(map(int, options.steps.split(",")), options.tiers.split(",")):
            place = folder / f"{name}-{steps}"
            place.mkdir(parents=True, exist_ok=True)
            rate = _write(name, place, steps)
            one, client = _latencies(name, place, 1, options.rounds)
            many = one
            if options.clients > 1:
                many, _ = _latencies(name, place, options.clients, options.rounds)
            told = "  ".join(f"{ms:11.1f}" for ms in (*_percentiles(one), *_percentiles(many)))
            size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) / _MEGABYTE
            print(f"{name:18}{steps:9,} {rate:>9} {size:8,.0f}  {told}  {client:10.0f}", flush=True)
    return 0


def _write(tier: str, place: Path, steps: int) -> str:
    """Write what is not there yet; how many steps a second."""
    done = place / "steps a second"
    if not done.exists():
        done.write_text(f"{steps / fill(tier, place, steps):,.0f}", encoding="utf-8")
    return done.read_text(encoding="utf-8")


def _latencies(tier: str, place: Path, clients: int, rounds: int) -> tuple[list[float], float]:
    """How long each query took in milliseconds, over all clients at once; the megabytes of a client."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(clients)
    with context.Pool(clients, initializer=_take_barrier, initargs=(barrier,)) as pool:
        done = pool.starmap(_ask_all, [(tier, place, seed, rounds) for seed in range(clients)], chunksize=1)
        pool.close()
        pool.join()
    latencies, clients_memory = zip(*done, strict=True)
    return list(itertools.chain(*latencies)), statistics.median(clients_memory)


def _take_barrier(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603  # a pool hands shared things to its processes in no other way
    _barrier = barrier


def _ask_all(tier: str, place: Path, seed: int, rounds: int) -> tuple[list[float], float]:
    """One client: every query once, then all at the same time as the other clients, in an order of its own."""
    asked = [query for _ in range(rounds) for query in _ASKED]
    random.Random(seed).shuffle(asked)
    with ExitStack() as stack:
        answer = asker(stack.enter_context(TIERS[tier](place)))
        for query in _ASKED:
            answer(query)
        _barrier.wait()
        latencies = []
        for query in asked:
            begin = time.perf_counter()
            answer(query)
            latencies.append((time.perf_counter() - begin) * 1000)
    return latencies, _megabytes("self/status", "VmHWM:")  # getrusage(2) would tell of the parent too


def _megabytes(file: str, name: str) -> float:
    """A figure that the system tells in kilobytes."""
    told = Path(f"/proc/{file}").read_text(encoding="ascii")
    (kilobytes,) = [line.split()[1] for line in told.splitlines() if line.startswith(name)]
    return int(kilobytes) * 1024 / _MEGABYTE


def _percentiles(latencies: Sequence[float]) -> tuple[float, float]:
    return statistics.median(latencies), statistics.quantiles(latencies, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())

"""One process of the benchmark of vectors: makes what a way of searching needs, or searches; prints JSON."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

from unified_state.memory.archive.archive import Archive
from unified_state.search.vectors.nearest_vectors import nearest, refresh


def main(folder: Path, way: str, asked: int) -> None:
    """Make it, or ask the first so many queries."""
    found, seconds, processor = [], [0.0], [0.0]
    with Archive(str(folder / "archive.db")) as archive:
        if way == "scan":
            refresh(archive, 1)
        if asked:
            import numpy as np

            queries = np.load(folder / "queries.npy")[:asked]
            seconds, processor = [], []
            for query in queries:
                begin, used = time.perf_counter(), time.process_time()
                found.append(nearest(archive, 1, query, 10))
                seconds.append(time.perf_counter() - begin)
                processor.append(time.process_time() - used)
    told = {
        "p50": statistics.median(seconds) * 1e3,
        "p95": sorted(seconds)[len(seconds) * 95 // 100] * 1e3,
        "processor": statistics.median(processor) * 1e3,
        "making": time.process_time(),
        "memory": _most_memory(),
        "cosines": [[cosine for _, cosine in ten] for ten in found],
    }
    json.dump(told, sys.stdout)


def _most_memory() -> float:
    """The most megabytes that were resident, of this process alone: what getrusage tells has its parent's too."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

"""What a search by meaning costs by the size of an archive, and what it misses since it does not compare all.

    python -m benchmarks.vectors FOLDER… [--steps N…] [--cache FOLDER] [--queries N]

Vectors of real texts: what stands in the transcripts below the folders, cut into passages, and where they have too few,
the text files below them (`passages`). A thousand passages are held out: half of the queries are of them, half are
prompts of users. Recall@10 is the share of the ten found that are as near as one of the ten nearest of all.

Making and searching are measured in processes of their own: how long what is searched takes to make, how large it is, a
whole process with one search (but without a model), then p50 and p95 of one search in a process that goes on (of the
clock, and what it takes of a processor), and the most memory of making and of searching. The vectors are kept in the
cache: 100,000 take half an hour.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.minilm_folder import minilm_folder
from benchmarks.passages import read_passages, read_prompts
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.derived_file import SCAN
from unified_state.memory.archive.vector_table import add_vectors, model_number
from unified_state.search.vectors.models import open_model
from unified_state.setting_table import MINILM

HELD_OUT = 1_000
TEN = 10
_BATCH = 2_000
_COMPARED_WITH_ALL = 40  # queries, where a search takes seconds
_PROCESSES = 5
_WAYS = {"all": "", "scan": SCAN}
_HEADER = (
    f"{'':7} {'vectors':>9} {'made in':>9} {'of CPU':>8} {'with':>8} {'size':>8} {'process':>8} "
    f"{'p50':>9} {'of CPU':>9} {'p95':>9} {'memory':>8}  recall@10"
)

Vectors = NDArray[np.float32]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--steps", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--ways", nargs="+", choices=list(_WAYS), default=list(_WAYS))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "unified-state-vectors")
    options = parser.parse_args(arguments)
    options.cache.mkdir(parents=True, exist_ok=True)
    encoded = _encoded(options.folders, max(options.steps), options.cache)
    held_out, vectors, prompts = np.split(encoded, [HELD_OUT, HELD_OUT + max(options.steps)])
    half = min(options.queries // 2, len(prompts))
    queries = np.concatenate([held_out[:half], prompts[:half]]).astype(np.float32)
    print(f"{MINILM}, {vectors.shape[1]} dimensions; queries: {half} passages, {half} prompts\n{_HEADER}")
    for steps in options.steps:
        with tempfile.TemporaryDirectory(prefix="archive-", dir=options.cache) as folder:
            _measure(Path(folder), vectors[:steps], queries, options.ways)
    return 0


def _encoded(folders: list[Path], count: int, cache: Path) -> NDArray[np.float16]:
    """The vectors of the held-out passages, of so many passages, and of the prompts."""
    path = cache / f"{MINILM}-{count}.npy"
    if not path.exists():
        texts = read_passages(folders, HELD_OUT + count)
        if len(texts) < HELD_OUT + count:
            sys.exit(f"the folders have {len(texts):,} passages; give more of them, with code or documentation")
        random.Random(1).shuffle(texts)
        texts += read_prompts(folders, HELD_OUT)
        model, begin, rows = open_model(minilm_folder()), time.perf_counter(), list[bytes]()
        some = model.encode(texts[:1])[0]  # in place of the few texts that no model can read
        for first in range(0, len(texts), _BATCH):
            rows += [row or some or b"" for row in model.encode(texts[first : first + _BATCH])]
            print(f"{len(rows):,} of {len(texts):,} texts, {time.perf_counter() - begin:.0f} s", file=sys.stderr)
        np.save(path, np.frombuffer(b"".join(rows), "<f2").reshape(len(rows), model.dimensions))
    encoded: NDArray[np.float16] = np.load(path, mmap_mode="r")
    return encoded


def _measure(folder: Path, vectors: NDArray[np.float16], queries: Vectors, ways: Sequence[str]) -> None:
    path, begin = folder / "archive.db", time.perf_counter()
    _fill(path, vectors)
    print(f"{'archive':7} {len(vectors):9,} {time.perf_counter() - begin:7.1f} s {'':17} {_megabytes(path)}")
    np.save(folder / "queries.npy", queries)
    least = _tenth_nearest(vectors, queries)
    for way in ways:
        asked = len(queries) if way != "all" else min(_COMPARED_WITH_ALL, len(queries))
        made = _in_a_process(folder, way, 0)
        processes = [_in_a_process(folder, "", 1)["process"] for _ in range(_PROCESSES)]
        done = _in_a_process(folder, "", asked)
        near = [cosine >= least[place] for place, cosines in enumerate(done["cosines"]) for cosine in cosines]
        size = _megabytes(Path(f"{path}.vectors", f"1.{_WAYS[way]}")) if _WAYS[way] else f"{'-':>8}"
        print(
            f"{way:7} {len(vectors):9,} {made['process']:7.1f} s {made['making']:6.1f} s {made['memory']:5.0f} MB "
            f"{size} {statistics.median(processes) * 1e3:5.0f} ms {done['p50']:6.2f} ms {done['processor']:6.2f} ms "
            f"{done['p95']:6.2f} ms {done['memory']:5.0f} MB  {sum(near) / (TEN * asked):.4f}"
        )


def _fill(path: Path, vectors: NDArray[np.float16]) -> None:
    """An archive with a step for each vector; the steps without a text, and not in the index of full text."""
    with Archive(str(path)) as archive:
        archive.run("PRAGMA journal_mode = OFF")
        with archive.transaction(durable=False):
            archive.run("INSERT INTO session (id, session_id) VALUES (1, 'session')")
            archive.run("INSERT INTO turn VALUES (1, 1, NULL, 0)")
            rows = ((number, number.to_bytes(16, "big")) for number in range(1, len(vectors) + 1))
            archive.connection.executemany(
                "INSERT INTO step (id, turn, uuid, block, kind, at, body) VALUES (?, 1, ?, 0, 0, 0, '')", rows
            )
            model = model_number(archive, "measured", "1", vectors.shape[1])
            add_vectors(archive, model, ((number, row.tobytes()) for number, row in enumerate(vectors, 1)))


def _tenth_nearest(vectors: NDArray[np.float16], queries: Vectors) -> list[float]:
    """The cosine of the tenth nearest vector to each query, less what rounding can do."""
    best = np.full((len(queries), TEN), -1.0, np.float32)
    wanted = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    for first in range(0, len(vectors), 50_000):
        cosines = wanted @ vectors[first : first + 50_000].astype(np.float32).T
        best = np.sort(np.concatenate([best, np.partition(cosines, -TEN, axis=1)[:, -TEN:]], axis=1))[:, -TEN:]
    return [float(cosine) - 1e-5 for cosine in best[:, 0]]


def _in_a_process(folder: Path, way: str, asked: int) -> dict[str, Any]:
    """What one process measures: it makes what a way of searching needs, or asks so many queries."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.vector_process", str(folder), way, str(asked)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return {**json.loads(done.stdout), "process": time.perf_counter() - begin}


def _megabytes(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:5.0f} MB"


if __name__ == "__main__":
    sys.exit(main())

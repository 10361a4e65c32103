"""What a search costs in an archive of many steps, and what it costs that not every match is scored.

    python -m benchmarks.search [--steps N] [--rounds N] [--folder FOLDER]

`unified-state search` as a whole process, beside a bare node in the same run, over the queries below. Targets for the
median over the queries: at most 3 x node -e 0 at 50,000 steps, 8 x at 1,000,000. The share of the exhaustive ten is how
many of the ten best hits are found that scoring every match gives, where that many can be scored. To write a million
steps takes some minutes; in a FOLDER they are kept for the next run.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.known_items import Exhaustive, found_steps, measure
from benchmarks.long_archive import BEGIN, write_archive
from benchmarks.side_by_side import Contender, clean_environment, compare, node, ratio
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import count_having, count_steps
from unified_state.lib.query import query_words
from unified_state.project.place import locate
from unified_state.search.search_archive import search
from unified_state.settings import default_data_dir

PROGRAM = str(Path(sys.prefix) / "bin" / "unified-state")
# In how many steps a word of the archive stands: below a thousandth, about a hundredth, a twentieth and more.
QUERIES = {
    "rare terms": ("T-00042", "rotuda", "makibibi", "sudibo vakabu", "gopiso nikudi botoda", "manoda"),
    "medium terms": ("lufa", "rubu", "podi nobu", "vufo boki giga", "migu rifa", "budo zudi"),
    "common terms": (
        "hook",
        "test file",
        "config error",
        "retry build budget",
        "checkpoint commit",
        "session hook path",
    ),
    "questions": (
        "why did we choose the stream buffer for the token queue?",
        "what was the last error in the worker deploy of T-00042?",
        "fix the timeout in the lufa handler of src/api/gopiso.py",
        "where is the config of the cache lock read?",
        "how did the rubu test fail after the schema migration?",
        "when did we add the retry of the payload hook?",
    ),
}
HITS = 10
_MOST_SCORED = 60_000  # matches that one process can hold


def main(arguments: list[str] | None = None) -> int:
    """Write the archive, ask every query, print the tables."""
    parser = described(__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument(
        "--known-items", type=int, default=15, help="how many steps of each class and age are looked for"
    )
    parser.add_argument("--folder", type=Path, help="an existing one, in which the archive is kept")
    options = parser.parse_args(arguments)
    with _home(options.folder) as home:
        project = home / str(options.steps)
        archive = _archive(home, project, options.steps)
        shares = {query: share_of_exhaustive(archive, query) for queries in QUERIES.values() for query in queries}
        environment = clean_environment(HOME=str(home))
        contenders = {
            query: Contender(query, [PROGRAM, "search", query], environment=environment, cwd=str(project))
            for query in shares
        }
        print(f"{options.steps:,} steps, {archive.stat().st_size / 1e6:,.0f} MB")
        compare([yardstick := node(), *contenders.values()], options.rounds)
        _print_classes({query: ratio(one, yardstick) for query, one in contenders.items()}, shares)
        _print_known_items(archive, options.known_items)
    return 0


@contextmanager
def _home(kept: Path | None) -> Iterator[Path]:
    """A home that is kept, or one that is gone afterwards."""
    if kept is not None:
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="unified-state-") as name:
        yield Path(name)


def _archive(home: Path, project: Path, steps: int) -> Path:
    """The archive of a project in that home, written where there is none yet."""
    project.mkdir(exist_ok=True)
    data = home / Path(default_data_dir()).relative_to(Path.home())
    path = Path(locate(str(project), str(data), create=True).archive_path)
    if not path.exists():
        write_archive(path, steps)
    return path


def share_of_exhaustive(path: Path, query: str) -> float | None:
    """How many of the hits that scoring every match gives are found; None where there are too many to score."""
    with Archive(str(path)) as archive:
        steps = count_steps(archive)
        if min(steps, sum(count_having(archive, query_words(query), steps).values())) > _MOST_SCORED:
            return None
        found = {hit.ref for hit in search(archive, query, HITS, now=BEGIN)}
        best = {hit.ref for hit in search(archive, query, HITS, now=BEGIN, candidates=sys.maxsize)}
    return len(found & best) / len(best) if best else 1.0


def _print_known_items(path: Path, count: int) -> None:
    """For each class of queries and age of steps: how often the step is found, and how many of the exhaustive ten."""
    print(f"\n{'known items':16}  exhaustive BM25    found   overlap   p50 ms")
    with Archive(str(path)) as archive:
        every = Exhaustive(archive)
        for name, queries in QUERIES.items():
            ten = [(set(every.best(query)), set(found_steps(archive, query))) for query in queries]
            overlap = statistics.fmean(len(best & found) / len(best) if best else 1.0 for best, found in ten)
            print(f"{name:16}  {'-':>15}  {'-':>7}  {overlap:8.2f}")
        for one in measure(archive, every, count):
            row = f"{one.exhaustive:15.2f}  {one.found:7.2f}  {one.overlap:8.2f}  {one.milliseconds:7.0f}"
            print(f"{one.name:16}  {row}")


def _print_classes(ratios: Mapping[str, float], shares: Mapping[str, float | None]) -> None:
    """The median ratio and the mean share, for each class and for all queries."""
    print(f"\n{'':14}  x node -e 0   of the exhaustive ten")
    for name, queries in {**QUERIES, "all": tuple(ratios)}.items():
        known = [share for query in queries if (share := shares[query]) is not None]
        told = f"{statistics.fmean(known):.2f} ({len(known)} queries)" if known else "-"
        print(f"{name:14}  {statistics.median(ratios[query] for query in queries):11.2f}   {told}")


if __name__ == "__main__":
    sys.exit(main())

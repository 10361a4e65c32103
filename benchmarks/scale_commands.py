"""What every hook and command takes of a processor as the archive grows, as whole processes, and how that grows.

    python -m benchmarks.scale_commands [--steps 10000,100000,1000000] [--rounds 3] [--folder FOLDER]

An archive has a session and eleven captured items for every thousand steps, as real sessions leave them, a decision for
every five thousand, and 200 repositories beside it.
The last column is the growth exponent from the fewest to the most steps: 0 where the time stays, 1 where it grows as
the archive does. The last line names what grows faster than the power .3. Only `forget` also rests, for as long as it
works. In a FOLDER the archives are kept for the next run; each run works on a copy.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.captured_items import capture_items
from benchmarks.long_archive import write_archive
from benchmarks.scale_work import Make, Work
from benchmarks.world import World
from unified_state import UnifiedStateManager
from unified_state.archive.archive import Archive

SESSION_STEPS, ITEM_STEPS = 1_000, 5_000  # how many steps there are for each session and each decision
OTHER_STEPS = 2_400  # of each repository beside it
_FINDING = ("doctor", "validate")  # exit with 1 where they find something
_SLOW = 10.0  # seconds after which a process is timed once
_MOST_GROWTH = 0.3


def main(arguments: list[str] | None = None) -> int:
    """Write the archives, time every process in a copy of each, print the table."""
    parser = described(__doc__)
    parser.add_argument("--steps", default="10000,100000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="an existing one, in which the archives are kept")
    parser.add_argument("--repositories", type=int, default=200, help="how many others there are")
    options = parser.parse_args(arguments)
    sizes = sorted(map(int, options.steps.split(",")))
    taken: dict[str, dict[int, float]] = {}
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="unified-state-"))
        kept = options.folder or Path(name)
        others = _others(kept, options.repositories)
        for steps in sizes:
            world = _world(Path(name) / str(steps), _archive(kept, steps), others)
            for what, make in Work(world, steps).all():
                taken.setdefault(what, {})[steps] = _timed(world, make, options.rounds)
                print(f"{steps:>9,} {what:40} {taken[what][steps]:8.3f}", file=sys.stderr, flush=True)
            shutil.rmtree(world.folder)
    _print(taken, sizes)
    return 0


def _print(taken: dict[str, dict[int, float]], sizes: list[int]) -> None:
    print(f"{'seconds at … steps':40}", *(f"{steps:>10,}" for steps in sizes), "  exponent")
    growing = []
    for what, seconds in taken.items():
        growth = math.log(seconds[sizes[-1]] / seconds[sizes[0]]) / (math.log(sizes[-1] / sizes[0]) or 1)
        print(f"{what:40}", *(f"{seconds[steps]:10.3f}" for steps in sizes), f"{growth:10.2f}")
        if growth > _MOST_GROWTH:
            growing.append(f"{what} {growth:.2f}")
    print(f"exponent above {_MOST_GROWTH}: {'; '.join(growing) or 'none'}")


def _archive(kept: Path, steps: int) -> Path:
    path = kept / f"{steps}.db"
    if not path.exists():
        write_archive(path, steps, session_steps=SESSION_STEPS)
    return path


def _others(kept: Path, count: int) -> Path:
    folder = kept / "repositories"
    folder.mkdir(exist_ok=True)
    for number in range(count):
        path = folder / f"{number:016x}" / "archive.db"
        if not path.exists():
            write_archive(path, OTHER_STEPS, seed=1_000 + number)
    return folder


def _world(folder: Path, archive: Path, others: Path) -> World:
    """A repository with a copy of the archive, and the others beside it."""
    world = World(folder)
    os.environ["HOME"] = str(world.home)
    world.run("decision", "add", "Use SQLite", "--rationale", "one file")
    (own,) = world.home.rglob("archive.db")
    with Archive(str(own)) as made:
        owner = made.meta("repository") or ""
    shutil.copy(archive, own)
    with Archive(str(own)) as copy:
        copy.set_meta("repository", owner)
        capture_items(copy, copy.column("SELECT id FROM session ORDER BY id"))
        steps = int(copy.row("SELECT max(id) FROM step")[0])
    manager = UnifiedStateManager(str(world.project))
    for number in range(steps // ITEM_STEPS):
        manager.add_decision(f"Decision {number} about the {number}th module", "it was weighed", reversible=True)
    for other in others.iterdir():
        (own.parents[1] / other.name).symlink_to(other.resolve())
    return world


def _timed(world: World, make: Make, rounds: int) -> float:
    """How many seconds of a processor a process takes: the median of some rounds after a first one, or once if it takes
    long.
    """
    seconds: list[float] = []
    for _ in range(rounds + 1):
        command, stdin = make()
        begin = _processor_seconds()
        done = subprocess.run(
            command, input=stdin, env=world.environment, cwd=world.project, capture_output=True, check=False
        )
        seconds.append(_processor_seconds() - begin)
        if done.returncode > (command[1] in _FINDING):
            sys.exit(f"{command}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
        if seconds[0] > _SLOW:
            return seconds[0]
    return statistics.median(seconds[1:])


def _processor_seconds() -> float:
    """What all processes took that have ended: a busy machine does not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())

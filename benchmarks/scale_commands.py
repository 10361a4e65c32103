"""What every hook and command takes of a processor as the archive grows, as whole processes, and how that grows.

    python -m benchmarks.scale_commands [--steps 10000,100000,1000000] [--rounds 3] [--folder FOLDER] [--server]

An archive has a session for every thousand steps, a decision for every five thousand, and 200 repositories beside it.
The last column is the growth exponent from the fewest to the most steps: 0 where the time stays, 1 where it grows as
the archive does. Only `forget` also rests, for as long as it works. In a FOLDER the archives are kept for the next run;
each run works on a copy. With `--server` a sync to an embedded PostgreSQL is timed too.
"""

from __future__ import annotations

import itertools
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.generated import Generator, line
from benchmarks.long_archive import write_archive
from benchmarks.world import PROGRAM, World
from unified_state import UnifiedStateManager
from unified_state.memory.archive.archive import Archive
from unified_state.memory.working_set.keep_working_set import rebuild_working_sets

SESSION_STEPS, ITEM_STEPS = 1_000, 5_000  # how many steps there are for each session and each decision
OTHER_STEPS = 2_400  # of each repository beside it
_WORKED = 20  # newest sessions that have a working set
_FINDING = ("doctor", "validate")  # exit with 1 where they find something
_SLOW = 10.0  # seconds after which a process is timed once
Run = tuple[list[str], bytes]
Make = Callable[[], Run]


def main(arguments: list[str] | None = None) -> int:
    """Write the archives, time every process in a copy of each, print the table."""
    parser = described(__doc__)
    parser.add_argument("--steps", default="10000,100000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="an existing one, in which the archives are kept")
    parser.add_argument("--repositories", type=int, default=200, help="how many others there are")
    parser.add_argument("--server", action="store_true")
    options = parser.parse_args(arguments)
    sizes = sorted(map(int, options.steps.split(",")))
    taken: dict[str, dict[int, float]] = {}
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="unified-state-"))
        kept = options.folder or Path(name)
        others = _others(kept, options.repositories)
        for steps in sizes:
            work = Path(name) / str(steps)
            world = _world(work, _archive(kept, steps), others)
            for what, make in _Work(world, steps).all(with_server=options.server):
                taken.setdefault(what, {})[steps] = _timed(world, make, options.rounds)
                print(f"{steps:>9,} {what:40} {taken[what][steps]:8.3f}", file=sys.stderr, flush=True)
            shutil.rmtree(work)
    _print(taken, sizes)
    return 0


def _print(taken: dict[str, dict[int, float]], sizes: list[int]) -> None:
    print(f"{'seconds at … steps':40}", *(f"{steps:>10,}" for steps in sizes), "  exponent")
    for what, seconds in taken.items():
        growth = math.log(seconds[sizes[-1]] / seconds[sizes[0]]) / (math.log(sizes[-1] / sizes[0]) or 1)
        print(f"{what:40}", *(f"{seconds[steps]:10.3f}" for steps in sizes), f"{growth:10.2f}")


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
        newest = copy.column("SELECT id FROM session ORDER BY id DESC LIMIT ?", _WORKED)
        rebuild_working_sets(copy, newest)
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


class _Work:
    """The processes to time, in an order in which none spoils another."""

    def __init__(self, world: World, steps: int) -> None:
        self._world, self._steps = world, steps
        self._transcript = world.folder / "now.jsonl"
        self._generator = Generator(self._transcript.stem, seed=7, result_bytes=(200, 2_000))
        self._places = itertools.count(steps // 2, 7)
        self._sessions, self._pruned = itertools.count(1), itertools.count(1)

    def all(self, *, with_server: bool) -> Iterator[tuple[str, Make]]:
        """Each process with its name."""
        yield from self._hooks()
        for name, words in _READING.items():
            yield name, self._command(*words)
        yield "save", self._command("save")
        yield "decision add", self._command("decision", "add", "One more", "--rationale", "it was weighed")
        yield "embed --limit 500", self._command("embed", "--limit", "500")
        if with_server:
            self._name_server()
            yield "sync --limit 2000", self._command("sync", "--limit", "2000")
        yield "export", self._command("export")
        yield "scan", self._command("scan")
        yield "forget, one step", lambda: self._forget(f"S{next(self._places)}")
        yield "forget, a session of 1,000", lambda: self._forget("--session", f"session-{next(self._sessions):05}")
        yield "forget --match", lambda: self._forget("--match", f"nothing has {next(self._places)}")
        yield "forget --older-than, 1,000 steps", self._prune
        yield "vacuum", self._command("vacuum")

    def _hooks(self) -> Iterator[tuple[str, Make]]:
        fields = {
            "UserPromptSubmit": {"prompt": "go on"},
            "Stop": {},
            "PreCompact": {"trigger": "auto"},
            "SessionStart": {"source": "compact"},
        }
        for event, given in fields.items():
            for part in ("brief", "working_set") if event == "SessionStart" else ("",):
                yield f"{event} {part}".strip(), self._hook(event, part, given)

    def _hook(self, event: str, part: str, given: dict[str, str]) -> Make:
        def make() -> Run:
            with self._transcript.open("a", encoding="utf-8") as file:
                file.writelines(map(line, list(self._generator.turn())))
            return self._world.hook(event, self._transcript, part, **given)

        return make

    def _command(self, *words: str) -> Make:
        return lambda: ([PROGRAM, *words], b"")

    def _forget(self, *what: str) -> Run:
        return [PROGRAM, "forget", *what, "--yes"], b""

    def _prune(self) -> Run:
        """Let a thousand of the archive's steps be old, and prune what is old."""
        (own,) = (path for path in self._world.home.rglob("archive.db") if not path.parent.is_symlink())
        with Archive(str(own)) as archive, archive.transaction():
            first = self._steps - 1_000 * next(self._pruned)
            old = "UPDATE step SET at = at - 864000000000 WHERE id BETWEEN ? AND ? AND kind NOT NULL AND at > 1e12"
            archive.run(old, first, first + 999)
        return self._forget("--older-than", "2000-01-01")

    def _name_server(self) -> None:
        path = self._world.home / ".config" / "unified-state" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        server = self._world.folder / "server"
        path.write_text(f'postgres_enabled = true\npostgres_dsn = "embedded:{server}"\n', encoding="utf-8")


_READING = {
    "status": ("status",),
    "doctor": ("doctor",),
    "preview --startup": ("preview", "--startup"),
    "context": ("context",),
    "age": ("age",),
    "validate": ("validate",),
    "inbox": ("inbox",),
    "decision list": ("decision", "list"),
    "compactions": ("compactions",),
    "show S": ("show", "S1000"),
    "show T": ("show", "T41"),
    "show --source": ("show", "--source", "D1"),
    "search, rare words": ("search", "gopiso nikudi botoda"),
    "search, common words": ("search", "retry build budget"),
    "search, a question": ("search", "where is the config of the cache lock read?"),
    "search --session": ("search", "retry build", "--session", "session-00001"),
    "search --tool": ("search", "retry build", "--tool", "Bash"),
    "search --file": ("search", "retry build", "--file", "src/api/models.py"),
    "search --since": ("search", "retry build", "--since", "2023-11-20"),
    "search --kind": ("search", "retry build", "--kind", "prompt"),
    "search --all-projects, rare words": ("search", "rotuda", "--all-projects"),
    "search --all-projects, common words": ("search", "retry build budget", "--all-projects"),
    "export --session": ("export", "--session", "session-00001"),
    "forget --dry-run": ("forget", "--older-than", "2023-11-20", "--dry-run"),
}


if __name__ == "__main__":
    sys.exit(main())

"""What hooks and commands cost while many processes use one archive: mixed work of 64 clients in three worktrees.

    python -m benchmarks.contention [--clients 64] [--rounds 12]

Each client is a session of its own that runs hooks and commands as whole processes, one after the other, without a
pause: prompts mostly, the end of an answer, a compaction, a session start, a decision, a search. Once all have begun,
every process is timed. A prompt's 99th percentile is to be at most five times its median. Of what had to wait
because the archive was busy for four seconds, the number is printed; nothing of it is lost.
"""

from __future__ import annotations

import itertools
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from benchmarks.arguments import described
from benchmarks.generated import Generator, line
from benchmarks.world import PROGRAM, World

PROMPT = "UserPromptSubmit"
_MIX = (PROMPT, "Stop", PROMPT, "decision add", PROMPT, "search", PROMPT, "PreCompact", PROMPT, "SessionStart")
_WORKTREES = 3
_TURNS = 40  # of each session, before the clients begin
_LEAST = 2  # processes of a kind, for a percentile


def main(arguments: list[str] | None = None) -> int:
    """Make the worktrees and sessions, let all clients work at once, print a row for each kind of process."""
    parser = described(__doc__)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=12, help="how many processes each client runs")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="unified-state-") as name:
        world = World(Path(name))
        clients = [_Client(world, number) for number in range(options.clients)]
        begin = Barrier(options.clients)
        with ThreadPoolExecutor(options.clients) as pool:
            told = list(pool.map(lambda client: client.work(begin, options.rounds), clients))
        waiting = len(list(world.home.rglob("events*.jsonl")))
    seconds: dict[str, list[float]] = defaultdict(list)
    for kind, taken in itertools.chain.from_iterable(told):
        seconds[kind].append(taken)
    _print(seconds, options.clients, waiting)
    return 0


def _print(seconds: dict[str, list[float]], clients: int, waiting: int) -> None:
    print(f"{clients} clients in {_WORKTREES} worktrees; {waiting} files of events because the archive was busy")
    print(f"{'':18}processes  median ms     99 % ms    most ms   99 % / median")
    for kind, taken in sorted(seconds.items()):
        if len(taken) >= _LEAST:
            median, most = statistics.median(taken), max(taken)
            late = statistics.quantiles(taken, n=100, method="inclusive")[-1]
            shown = "  ".join(f"{value * 1000:9.0f}" for value in (median, late, most))
            print(f"{kind:18}{len(taken):9}  {shown}   {late / median:.1f}")


class _Client:
    """One session in one of the worktrees."""

    def __init__(self, world: World, number: int) -> None:
        self._world, self._number = world, number
        self._folder = _worktree(world, number % _WORKTREES)
        self._transcript = world.folder / f"client-{number}.jsonl"
        self._turns = self._written(Generator(self._transcript.stem, seed=number, result_bytes=(200, 4_000)))
        for _ in range(_TURNS):
            next(self._turns)

    def _written(self, generator: Generator) -> Iterator[None]:
        while True:
            with self._transcript.open("a", encoding="utf-8") as file:
                file.writelines(map(line, list(generator.turn())))
            yield

    def work(self, begin: Barrier, rounds: int) -> list[tuple[str, float]]:
        """Run processes, as many as there are rounds; the kind of each, and how long it took in seconds."""
        mix = random.Random(self._number).sample(_MIX, len(_MIX))
        self._run("PreCompact")  # archives what is written so far
        begin.wait()
        return [(kind, self._run(kind)) for kind in itertools.islice(itertools.cycle(mix), rounds)]

    def _run(self, kind: str) -> float:
        next(self._turns)
        stdin = b""
        if kind == "decision add":
            text = f"Client {self._number} decides at {time.monotonic()}"
            command = [PROGRAM, "decision", "add", text, "--rationale", "it was weighed"]
        elif kind == "search":
            command = [PROGRAM, "search", "retry schema"]
        else:
            fields = {
                PROMPT: {"prompt": "go on"},
                "PreCompact": {"trigger": "auto"},
                "SessionStart": {"source": "resume"},
            }
            part = "brief" if kind == "SessionStart" else ""
            command, stdin = self._world.hook(
                kind, self._transcript, part, cwd=str(self._folder), **fields.get(kind, {})
            )
        begin = time.perf_counter()
        environment = self._world.environment
        done = subprocess.run(command, input=stdin, env=environment, cwd=self._folder, capture_output=True, check=False)
        taken = time.perf_counter() - begin
        if done.returncode:
            sys.exit(f"{kind}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
        return taken


def _worktree(world: World, number: int) -> Path:
    """One of the worktrees: the project itself, or one beside it, which is made if it is missing."""
    if number == 0:
        return world.project
    folder = world.folder / f"worktree-{number}"
    if not folder.exists():
        command = ["git", "worktree", "add", "--quiet", str(folder), "-b", folder.name]
        subprocess.run(command, cwd=world.project, env=world.environment, check=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())

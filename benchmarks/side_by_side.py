"""Timing whole processes side by side: in turn, so that a machine whose speed drifts slows all of them alike.

The figure to quote is the median of the ratios to the first command, taken round by round. Outputs are read and thrown
away.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class Contender:
    """One command of a comparison. `prepare` runs before each round, untimed; `stdin` gives what the command reads."""

    name: str
    command: Sequence[str]
    stdin: Callable[[], bytes] = bytes
    prepare: Callable[[], None] = lambda: None
    environment: dict[str, str] | None = None
    cwd: str | None = None
    seconds: list[float] = field(default_factory=list)

    def run(self) -> None:
        """One timed run; a failing command ends the benchmark, since its time would mean nothing."""
        self.prepare()
        given = self.stdin()
        begin = time.perf_counter()
        done = subprocess.run(
            self.command, input=given, capture_output=True, env=self.environment, cwd=self.cwd, check=False
        )
        self.seconds.append(time.perf_counter() - begin)
        if done.returncode:
            sys.exit(f"{self.name}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")


def clean_environment(**changes: str) -> dict[str, str]:
    """The environment without what slows or changes the interpreters themselves."""
    dropped = {"NODE_EXTRA_CA_CERTS", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, **changes}


def node() -> Contender:
    """The yardstick: a bare node."""
    return Contender("node -e 0", ["node", "-e", "0"], environment=clean_environment())


def compare(contenders: Sequence[Contender], rounds: int) -> None:
    """Run all in turn, `rounds` times after one warm-up, and print a row for each: median, least, ratio to the
    first.
    """
    for contender in contenders:
        contender.run()
        contender.seconds.clear()
    for _ in range(rounds):
        for contender in contenders:
            contender.run()
    first = contenders[0]
    width = max(len(contender.name) for contender in contenders)
    print(f"{'':{width}}  median ms   least ms   x {first.name}")
    for contender in contenders:
        median, least = statistics.median(contender.seconds) * 1000, min(contender.seconds) * 1000
        print(f"{contender.name:{width}}  {median:9.1f}  {least:9.1f}   {ratio(contender, first):.2f}")


def ratio(contender: Contender, first: Contender) -> float:
    """How many times as long as the first it took, in the median of the rounds."""
    return statistics.median(own / base for own, base in zip(contender.seconds, first.seconds, strict=True))

"""What a short form costs: milliseconds for each megabyte, and what it takes to load the rules.

    python -m benchmarks.lean_cost [--rounds N]

Target: at most 30 ms for each megabyte of what is shortened.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.side_by_side import Contender, clean_environment, compare, node
from unified_state.extras.lean.rules.levels import MIDDLE
from unified_state.extras.lean.rules.shorten import shorten

_MEGABYTE = 1_000_000
_ROOT = str(Path(__file__).parents[1])
_LOADING = "import sys; sys.path.append(sys.argv[1]); import unified_state.extras.lean.rules.{}"
PATTERNS = {
    "go test -v ./...": "=== RUN   TestA{n}\n    a_test.go:1: said {n}\n--- PASS: TestA{n} (0.00s)\n",
    "make": "[{n}/90000] Compiling module_{n}\n",
    "git diff": "@@ -{n} +{n} @@\n+added line {n}\n-removed line\n context of it\n",
    "rg pool": "src/part{n}/file.go:{n}:\tfunc handle{n}(ctx context.Context) error {{\n",
    "journalctl -u pool": "2026-01-02 10:00:01 INFO worker handled request {n} path=/api/v1/items/{n}\n",
    "curl x": '  {{\n    "name": "abc{n}",\n    "value": {n}\n  }},\n',
    "./run.sh": "step {n} of the long way to the end\n",
}


def output_of(pattern: str, size: int) -> str:
    """An output of about this size; JSON begins as JSON does."""
    unit = len(pattern.format(n=10_000))
    lines = "".join(pattern.format(n=number) for number in range(10_000, 10_000 + size // unit))
    return "[\n" + lines if pattern.startswith("  {") else lines


def milliseconds(command: str, output: str, rounds: int) -> float:
    """The least time of some rounds."""
    least = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        shorten("Bash", {"command": command}, output, MIDDLE)
        least = min(least, time.perf_counter() - begin)
    return least * 1_000


def main() -> None:
    """Print a row for each kind of output, then compare the loading."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"{'':24}{'30 KB':>10}{'1 MB':>10}{'10 MB':>10}   ms/MB of 10 MB")
    for command, pattern in PATTERNS.items():
        times = [
            milliseconds(command, output_of(pattern, size), options.rounds)
            for size in (30_000, _MEGABYTE, 10 * _MEGABYTE)
        ]
        print(f"{command:24}" + "".join(f"{took:7.1f} ms" for took in times) + f"{times[-1] / 10:17.1f}")
    for name, line in {"one line of x": "x", "one line of JSON": '{"a": 1, "b": "words of it"},'}.items():
        took = milliseconds("./run.sh", line * (50 * _MEGABYTE // len(line)), 2)
        print(f"{name + ', 50 MB':24}{took:27.0f} ms{took / 50:20.1f}")
    contenders = [
        Contender(name, [sys.executable, "-I", "-S", "-c", code, _ROOT], environment=clean_environment())
        for name, code in {
            "an empty interpreter": "pass",
            "what tells short outputs": _LOADING.format("untouched"),
            "all rules": _LOADING.format("shorten"),
        }.items()
    ]
    compare([node(), *contenders], options.rounds * 3)


if __name__ == "__main__":
    main()

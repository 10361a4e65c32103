"""What lean context adds to a tool call: the hook as a whole process, beside a bare node in the same run.

    python -m benchmarks.tool_outputs [--rounds N]

Targets: at most 0.8 x node -e 0 for output that it leaves alone, at most 30 ms more for each megabyte of what it
shortens, and with the hook before the call at most 1.4 x. Where lean context is off the settings hold no such hook, and
for tools whose output is never shortened (`Read`, `Edit` …) it does not run.
"""

from __future__ import annotations

import itertools
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.lean_cost import PATTERNS, output_of
from benchmarks.side_by_side import Contender, compare, node
from benchmarks.tool_calls import forbid
from benchmarks.world import World

_STEP = "step {n} of the long way to the end\n"
LEFT_ALONE = {
    "a short output": ("./run.sh", _STEP),
    "10 KB of a file": ("cd src && cat a.py", _STEP * 300),
    "10 KB with nothing but errors": ("make", "a.c:{n}: error: it is wrong\n" * 360),
}
_SIZES = (3_000, 10_000, 30_000, 1_000_000)


def main() -> None:
    """Compare, and print what each megabyte costs."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.run("install", "--lean", "middle")
        forbid(world)
        hooks = json.loads((world.project / ".claude" / "settings.local.json").read_text(encoding="utf-8"))["hooks"]
        (behind,), (before,) = (hooks[event][0]["hooks"] for event in ("PostToolUse", "PreToolUse"))
        left = [
            Contender(name, _words(behind), _stdin(world, *given), environment=world.environment)
            for name, given in LEFT_ALONE.items()
        ]
        shortened = [
            Contender(f"{size:,} characters", _words(behind), _long(world, _STEP, size), environment=world.environment)
            for size in _SIZES
        ]
        checked = Contender(
            "the hook before it", _words(before), _stdin(world, "./run.sh", ""), environment=world.environment
        )
        yardstick = node()
        compare([yardstick, checked, *left, *shortened], rounds)
        both = [
            sum(pair) / base for *pair, base in zip(checked.seconds, left[0].seconds, yardstick.seconds, strict=True)
        ]
        print(f"{'before and behind a call together':48} {statistics.median(both):.2f}\n")
        _each_megabyte(world, _words(behind), max(5, rounds // 4))


def _each_megabyte(world: World, command: list[str], rounds: int) -> None:
    """What a megabyte costs more than 30 KB, for each kind of output."""
    print(f"{'':24}  ms more for each MB")
    for shell, pattern in PATTERNS.items():
        small, large = (
            Contender("", command, _long(world, pattern, size, shell), environment=world.environment)
            for size in (30_000, 1_000_000)
        )
        for _ in range(rounds):
            small.run()
            large.run()
        more = statistics.median(large.seconds) - statistics.median(small.seconds)
        print(f"{shell:24}  {more * 1_000 / 0.97:8.1f}")


def _words(handler: dict[str, list[str]]) -> list[str]:
    return [str(handler["command"]), *handler["args"]]


def _long(world: World, pattern: str, size: int, shell: str = "./run.sh") -> Callable[[], bytes]:
    return _stdin(world, shell, output_of(pattern, size))


def _stdin(world: World, shell: str, output: str) -> Callable[[], bytes]:
    """What the client tells the hook: each time of another call, with another output."""
    numbers = itertools.count()

    def given() -> bytes:
        number = next(numbers)
        event = {
            "hook_event_name": "PostToolUse",
            "session_id": "s",
            "cwd": str(world.project),
            "transcript_path": "",
            "tool_name": "Bash",
            "tool_use_id": f"toolu_{number}_{len(output)}_{shell}",
            "tool_input": {"command": shell, "timeout": number},
            "tool_response": {"stdout": output, "stderr": "", "interrupted": False, "isImage": False},
        }
        return json.dumps(event).encode()

    return given


if __name__ == "__main__":
    main()

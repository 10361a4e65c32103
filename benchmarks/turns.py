"""What all hooks together add to a user's turn, in the client itself, beside a bare node in the same run.

    python -m benchmarks.turns [--sessions N] [--json]

Two clients hold the same conversation of turns without tools, one without hooks and one with all of ours, and take
turns; a turn lasts from the prompt to the client's word that it waits for the next one. The figure to quote is the
median of what the hooks add, in bare nodes. Target: at most 1.2.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.arguments import described
from benchmarks.real_client import needed_client, temporary_scenario
from benchmarks.side_by_side import node
from tests.real_client.conversation import Conversation
from tests.sandboxed.product import Product

TURNS, WARM_UP, TARGET = 20, 3, 1.2


class Turn(NamedTuple):
    """Seconds of one turn without hooks, with ours, and of a bare node beside them."""

    alone: float
    hooked: float
    node: float

    @property
    def added(self) -> float:
        """What the hooks add, in bare nodes."""
        return (self.hooked - self.alone) / self.node


def main(arguments: list[str] | None = None) -> int:
    """Hold the conversations and print the medians."""
    parser = described(__doc__)
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    client = needed_client()
    turns = [turn for _ in range(options.sessions) for turn in session(client)]
    medians = {name: statistics.median(getattr(turn, name) for turn in turns) for name in (*Turn._fields, "added")}
    if options.json:
        print(json.dumps({"turns": len(turns), "target": TARGET, **medians}))
        return 0
    print(f"{len(turns)} turns without tools, medians")
    for name, label in {"alone": "without hooks", "hooked": "with ours", "node": "node -e 0"}.items():
        print(f"{label:14} {medians[name] * 1000:7.1f} ms")
    print(f"{'added':14} {medians['added']:7.2f} x node -e 0   (target {TARGET})")
    return 0


def session(client: Path) -> Iterator[Turn]:
    """One session of each, turn by turn; the first turns, in which the client warms up, do not count."""
    yardstick = node()
    with ExitStack() as stack:
        alone, hooked = (stack.enter_context(conversation(client, hooks)) for hooks in (False, True))
        for number in range(WARM_UP + TURNS):
            yardstick.run()
            asked = f"step {number}: go on with the next part of the work, and say what you found"
            turn = Turn(timed(alone, asked), timed(hooked, asked), yardstick.seconds[-1])
            if number >= WARM_UP:
                yield turn


def timed(ask: Callable[[str], object], prompt: str) -> float:
    """Seconds of one turn."""
    begin = time.perf_counter()
    ask(prompt)
    return time.perf_counter() - begin


@contextmanager
def conversation(client: Path, hooks: bool) -> Iterator[Callable[[str], object]]:  # one of two
    """A client in a world of its own, with our hooks installed or with none."""
    with temporary_scenario(client) as scenario:
        scenario.api.always("main", "I looked at it, and the next part is done. " * 8)
        if hooks:
            Product(scenario).install()
        with Conversation(scenario) as talk:
            yield talk.ask


if __name__ == "__main__":
    sys.exit(main())

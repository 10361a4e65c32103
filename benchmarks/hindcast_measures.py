"""How much of what the agent needed a text holds, alone or together with the client's summary.

Names are held wherever they stand. Two that belong together are held only in one unit: a line of the text, a paragraph
of the summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import holds, holds_together, in_one_line

T = TypeVar("T")

MEASURES = ("all", "lost", "pair", "next edit", "repeated", "error")


def measure(case: Case, text: str, summary: str = "") -> dict[str, float]:
    """The share that is held, by measure; without those for which the case has no gold."""
    whole = f"{text}\n{summary}"
    flat = in_one_line(whole)
    units = [*text.splitlines(), *re.split(r"\n\s*\n", summary)]
    shares = {
        "all": _share(sorted(case.gold), lambda entity: holds(whole, entity)),
        "lost": _share(sorted(case.lost()), lambda entity: holds(whole, entity)),
        "pair": _share(sorted(case.pairs), lambda pair: holds_together(units, pair)),
        "next edit": _share(case.next_edits, lambda place: holds_together(units, place)),
        "repeated": _share(case.repeated, lambda outcome: outcome in flat),
        "error": _share(case.errors, lambda error: error in flat),
    }
    return {name: share for name, share in shares.items() if share is not None}


def _share(gold: Sequence[T], is_held: Callable[[T], bool]) -> float | None:
    return sum(map(is_held, gold)) / len(gold) if gold else None

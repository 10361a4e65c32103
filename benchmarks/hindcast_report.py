"""How much of what the agent needed a text holds, alone or together with the client's summary; means over cases with
their intervals, as tables and as JSON.

Names are held wherever they stand. Two that belong together are held only in one unit: a line of the text, a paragraph
of the summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, TypeVar

from benchmarks.averages import average
from benchmarks.hindcast_cases import Case
from benchmarks.hindcast_gold import holds, holds_together

T = TypeVar("T")

MEASURES = ("all", "lost", "pair", "next edit")
ALONE, WITH_SUMMARY = "alone", "with the summary"
_NAME_WIDTH, _WIDTH = 18, 15


class Measured(NamedTuple):
    """What one method's text holds for one case."""

    method: str
    tokens: int
    mode: str
    case: str
    shares: dict[str, float]


def measure(case: Case, text: str, summary: str = "") -> dict[str, float]:
    """The share that is held, by measure; without those for which the case has no gold."""
    whole = f"{text}\n{summary}"
    units = [*text.splitlines(), *re.split(r"\n\s*\n", summary)]
    shares = {
        "all": _share(sorted(case.gold), lambda entity: holds(whole, entity)),
        "lost": _share(sorted(case.lost()), lambda entity: holds(whole, entity)),
        "pair": _share(sorted(case.pairs), lambda pair: holds_together(units, pair)),
        "next edit": _share(case.next_edits, lambda place: holds_together(units, place)),
    }
    return {name: share for name, share in shares.items() if share is not None}


def _share(gold: Sequence[T], is_held: Callable[[T], bool]) -> float | None:
    return sum(map(is_held, gold)) / len(gold) if gold else None


def tables(measured: Sequence[Measured]) -> str:
    """All results for people."""
    lines = [f"{len({one.case for one in measured})} compactions"]
    for tokens, mode in dict.fromkeys((one.tokens, one.mode) for one in measured):
        own = [one for one in measured if (one.tokens, one.mode) == (tokens, mode)]
        lines += ["", f"{tokens:,} tokens, {mode}: mean and its 95 % interval"]
        first = _values([one for one in own if one.method == own[0].method])
        lines.append(_row("", [f"{name} ({len(values)})" for name, values in first.items()]))
        for method in dict.fromkeys(one.method for one in own):
            columns = _values([one for one in own if one.method == method]).values()
            lines.append(_row(method, [str(average(values)) if values else "-" for values in columns]))
    return "\n".join(lines)


def as_json(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """All results for programs."""
    groups: dict[tuple[str, int, str], list[Measured]] = {}
    for one in measured:
        groups.setdefault((one.method, one.tokens, one.mode), []).append(one)
    return [
        {
            "method": method,
            "tokens": tokens,
            "mode": mode,
            "measures": {name: asdict(average(values)) for name, values in _values(group).items() if values},
        }
        for (method, tokens, mode), group in groups.items()
    ]


def _values(measured: Sequence[Measured]) -> dict[str, list[float]]:
    """The shares of all cases that have any, by measure."""
    return {name: [one.shares[name] for one in measured if name in one.shares] for name in MEASURES}


def _row(name: str, columns: Sequence[str]) -> str:
    return f"{name:{_NAME_WIDTH}}{' '.join(column.ljust(_WIDTH) for column in columns)}".rstrip()

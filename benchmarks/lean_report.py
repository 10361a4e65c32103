"""The tables of the benchmark of lean context."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.lean_measures import Sums

_NAME, _WIDTH = 34, 10
_HALVES = 2_000  # with a fixed seed
_HEADS = ("outputs", "changed", "tokens", "saved", "carried", "used", "cut", "lost")


def table(title: str, rows: dict[str, Sums], *, by_tokens: bool) -> Iterator[str]:
    """One table, by choice the largest row first."""
    yield ""
    yield title
    yield f"{'':{_NAME}}" + "".join(f"{head:>{_WIDTH}}" for head in _HEADS)
    names = sorted(rows, key=lambda name: -rows[name].tokens) if by_tokens else list(rows)
    for name in names:
        yield f"{name[:_NAME]:{_NAME}}" + "".join(f"{cell:>{_WIDTH}}" for cell in _cells(rows[name]))


def spread(title: str, by_method: dict[str, dict[str, Sums]]) -> Iterator[str]:
    """From where to where each method came in nine of ten random halves of the sessions."""
    yield ""
    yield title
    yield f"{'':{_NAME}}" + "".join(f"{head:>{2 * _WIDTH}}" for head in ("saved", "cut", "lost"))
    for name, by_session in by_method.items():
        draw = random.Random(1)
        halves = [_sum(draw.sample(list(by_session.values()), max(1, len(by_session) // 2))) for _ in range(_HALVES)]
        ranges = [
            _range([half.saved for half in halves]),
            _range([half.cut / max(1, half.uses) for half in halves]),
            _range([half.lost / max(1, half.uses) for half in halves]),
        ]
        yield f"{name[:_NAME]:{_NAME}}" + "".join(f"{told:>{2 * _WIDTH}}" for told in ranges)


def _sum(parts: list[Sums]) -> Sums:
    total = Sums()
    for part in parts:
        total.add(part)
    return total


def _range(shares: list[float]) -> str:
    ordered = sorted(shares)
    rest = len(ordered) // 20
    return f"{100 * ordered[rest]:.1f} - {100 * ordered[-1 - rest]:.1f} %"


def _cells(sums: Sums) -> list[str]:
    return [
        f"{sums.outputs:,}",
        f"{sums.changed:,}",
        f"{sums.tokens:,}",
        _share(sums.saved),
        _share(sums.carried_saved),
        f"{sums.uses:,}",
        _share(sums.cut / sums.uses) if sums.uses else "-",
        _share(sums.lost / sums.uses) if sums.uses else "-",
    ]


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"

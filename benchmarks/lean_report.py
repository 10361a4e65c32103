"""The tables of the benchmark of lean context."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.lean_measures import Sums

_NAME, _WIDTH = 34, 10
_HEADS = ("outputs", "changed", "tokens", "saved", "carried", "used", "cut", "lost")


def table(title: str, rows: dict[str, Sums], *, by_tokens: bool) -> Iterator[str]:
    """One table, by choice the largest row first."""
    yield ""
    yield title
    yield f"{'':{_NAME}}" + "".join(f"{head:>{_WIDTH}}" for head in _HEADS)
    names = sorted(rows, key=lambda name: -rows[name].tokens) if by_tokens else list(rows)
    for name in names:
        yield f"{name[:_NAME]:{_NAME}}" + "".join(f"{cell:>{_WIDTH}}" for cell in _cells(rows[name]))


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

"""Means with their uncertainty: 95 % percentile bootstrap, with a fixed seed, so that every run prints the same.

The same resamples serve all means over the same number of values.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

RESAMPLES = 2_000
_SEED = 20_260_101
_OUTSIDE = 0.025  # of the resampled means, on either side


@dataclass(frozen=True)
class Average:
    """A mean, the interval that it lies in with 95 % confidence, and of how many values it is."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{short(self.mean)} {short(self.low, 2)}-{short(self.high, 2)}"


def average(values: Sequence[float]) -> Average:
    """The mean of the values and its interval."""
    means = sorted(fmean([values[index] for index in sample]) for sample in _resamples(len(values)))
    outside = round(_OUTSIDE * RESAMPLES)
    return Average(fmean(values), means[outside], means[-outside - 1], len(values))


def pooled(groups: Sequence[Sequence[float]]) -> Average:
    """The mean of all values and its interval, where whole groups are drawn: the values of a group depend on each
    other. A group may be empty; `count` counts values.
    """
    sums = [(sum(group), len(group)) for group in groups if group]
    means = sorted(
        sum(sums[index][0] for index in sample) / sum(sums[index][1] for index in sample)
        for sample in _resamples(len(sums))
    )
    outside = round(_OUTSIDE * RESAMPLES)
    count = sum(size for _, size in sums)
    return Average(sum(total for total, _ in sums) / count, means[outside], means[-outside - 1], count)


def short(share: float, digits: int = 3) -> str:
    """A share as tables print it: .123, and 1.00 for all of it."""
    return f"{share:.{digits}f}"[1:] if share < 1 - 0.5 * 10**-digits else f"{share:.{digits - 1}f}"


@cache
def _resamples(count: int) -> list[list[int]]:
    generator = random.Random(_SEED)
    return [generator.choices(range(count), k=count) for _ in range(RESAMPLES)]

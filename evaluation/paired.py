"""Statistics of pairs: the same task in two arms.

McNemar's exact test (two-sided, binomial on the discordant pairs). Minimum detectable effect after Connor (1987),
"Sample size for testing differences in proportions for the paired-sample design", Biometrics 43:207-211, and never
smaller than the fewest one-sided discordant pairs with which the exact test can reject.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.averages import Average, average, short

ALPHA, POWER = 0.05, 0.8
_Z_ALPHA, _Z_POWER = 1.959964, 0.841621  # standard normal quantiles of 1 - ALPHA / 2 and of POWER
DISCORDANT = (0.2, 0.4, 0.6)  # shares of pairs that differ, for which the effect is printed


@dataclass(frozen=True)
class Compared:
    """Pairs of an arm with another: the difference with its interval, the pairs that differ, and the p of McNemar."""

    difference: Average
    better: int
    worse: int
    p: float


def compare(arm: Sequence[float], other: Sequence[float]) -> Compared:
    """Compare the same tasks in two arms; 1 is solved, 0 is not."""
    differences = [one - two for one, two in zip(arm, other, strict=True)]
    better, worse = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Compared(average(differences), better, worse, mcnemar(better, worse))


def interval(values: Sequence[float]) -> str:
    """The mean and its interval, as tables print them."""
    mean = average(values)
    return f"{short(mean.mean)} ({short(mean.low, 2)} to {short(mean.high, 2)})"


def against(values: Sequence[float], others: Sequence[float]) -> str:
    """What differs from the same tasks in another arm, as tables print it; nothing without any."""
    if not others:
        return ""
    compared = compare(values, others)
    return f"+{compared.better} -{compared.worse}, p {compared.p:.3f}"


def mcnemar(better: int, worse: int) -> float:
    """Return the two-sided p of the exact test; 1 without a discordant pair."""
    count = better + worse
    tail = sum(math.comb(count, number) for number in range(min(better, worse) + 1))
    return min(1.0, float(2 * tail / 2**count))


def least_effect(pairs: int, discordant: float) -> float:
    """Return the smallest difference of shares that `pairs` tasks show with power .8 at alpha .05, if so many pairs
    differ. It is at most the share of pairs that differ; 1 means that no difference of this size can be shown.
    """
    if pairs < 1:
        return 1.0
    fewest = next(count for count in range(1, 100) if mcnemar(count, 0) <= ALPHA) / pairs
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        spread = math.sqrt(max(0.0, discordant - middle * middle))
        needed = (_Z_ALPHA * math.sqrt(discordant) + _Z_POWER * spread) / math.sqrt(pairs)
        low, high = (low, middle) if middle >= needed else (middle, high)
    effect = max(high, fewest)
    return effect if effect <= discordant else 1.0


def effect_lines(pairs: int) -> list[str]:
    """Say what so many pairs can show; printed before a run."""
    told = []
    for discordant in DISCORDANT:
        effect = least_effect(pairs, discordant)
        shown = "nothing" if effect >= 1 else f"{100 * effect:.0f} points"
        told.append(f"{100 * discordant:.0f} % of the pairs differ: {shown}")
    head = f"minimum detectable effect of {pairs} pairs (McNemar, alpha {ALPHA}, power {POWER}), if"
    return [head, *(f"  {line}" for line in told)]

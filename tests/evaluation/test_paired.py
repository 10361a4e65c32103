"""Statistics of pairs, against values worked out by hand or taken from the literature."""

from __future__ import annotations

import pytest

from evaluation.paired import compare, least_effect, mcnemar


def test_mcnemar_is_the_two_sided_binomial_test() -> None:
    assert mcnemar(0, 0) == 1
    assert mcnemar(6, 0) == pytest.approx(2 / 2**6)
    assert mcnemar(2, 10) == mcnemar(10, 2) == pytest.approx(2 * (1 + 12 + 66) / 2**12)


def test_pairs_are_compared_task_by_task() -> None:
    compared = compare([1, 1, 0, 1], [0, 1, 1, 0])
    assert (compared.better, compared.worse) == (2, 1)
    assert compared.difference.mean == pytest.approx(0.25)


def test_the_least_effect_is_what_connor_gives() -> None:
    effect = least_effect(100, 0.4)  # n = (1.96 sqrt(.4) + .84 sqrt(.4 - d * d))^2 / d^2
    needed = (1.959964 * 0.4**0.5 + 0.841621 * (0.4 - effect**2) ** 0.5) ** 2 / effect**2
    assert needed == pytest.approx(100)

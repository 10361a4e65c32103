"""How often a test repeats what takes long: in full in continuous integration, fewer times in `make test`, and fewest
in `make check`, which runs while one works.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from hypothesis import settings

T = TypeVar("T")
QUICK = 20  # examples of random data in `make check`


def amount(full: T, usual: T) -> T:
    """`full` where UNIFIED_STATE_TEST_FULL is set, as `.ci/run` does; `usual` otherwise."""
    return full if os.environ.get("UNIFIED_STATE_TEST_FULL") else usual


def some(everything: Iterable[T], usual: int) -> list[T]:
    """`everything` where UNIFIED_STATE_TEST_FULL is set; else so many of it, evenly spread, with first and last."""
    all_of_it = list(everything)
    if amount(full=True, usual=False) or len(all_of_it) <= usual:
        return all_of_it
    return [all_of_it[number * (len(all_of_it) - 1) // (usual - 1)] for number in range(usual)]


def is_check() -> bool:
    """Whether this is `make check`."""
    return settings().max_examples == QUICK


def at_most(usual: int, quick: int) -> int:
    """`quick` in `make check`, `usual` otherwise."""
    return quick if is_check() else usual


def examples(usual: int, **more: Any) -> settings:
    """The settings of a test that tries so many examples, and in `make check` no more than others do."""
    return settings(max_examples=at_most(usual, min(usual, QUICK)), **more)

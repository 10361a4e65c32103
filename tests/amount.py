"""How often a test repeats what takes long: in full in a whole run of `make stress`, fewer times in `make test`, and
fewest in `make check`, which runs while one works.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from hypothesis import settings

T = TypeVar("T")
QUICK = 10  # examples of random data in `make check`


def amount(full: T, usual: T) -> T:
    """`full` where UNIFIED_STATE_TEST_FULL is set, `usual` otherwise."""
    return full if os.environ.get("UNIFIED_STATE_TEST_FULL") else usual


def some(everything: Iterable[T], usual: int) -> list[T]:
    """`everything` where UNIFIED_STATE_TEST_FULL is set; else so many of it, evenly spread, with first and last."""
    all_of_it = list(everything)
    if amount(full=True, usual=False) or len(all_of_it) <= usual:
        return all_of_it
    return [all_of_it[number * (len(all_of_it) - 1) // (usual - 1)] for number in range(usual)]


def examples(full: int, **more: Any) -> settings:
    """The settings of a test that tries so many examples in full, and otherwise no more than others do."""
    return settings(max_examples=amount(full, min(full, settings().max_examples)), **more)

"""How often a test repeats what takes long: in full in continuous integration, fewer times while one works."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def amount(full: T, usual: T) -> T:
    """`full` where UNIFIED_STATE_TEST_FULL is set, as `.ci/run` does; `usual` otherwise."""
    return full if os.environ.get("UNIFIED_STATE_TEST_FULL") else usual
